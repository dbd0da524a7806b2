// Images out of registries, into OCI layouts: skopeo knows registries, their logins and their certificates.
#pragma once

#include <map>
#include <string>

#include "factory/base/digest.h"
#include "factory/oci/image_source.h"
#include "factory/oci/registry_call.h"

namespace kiln {

// Fetches the image `reference` (docker://…, oci:…; without a transport docker://) into `layout`: of an image
// index the one for linux on `architecture` (OCI's word; "": this machine's). Throws as ask_registry and
// throw_registry_error do.
void pull_base(const std::string& reference, const fs::path& layout, const fs::path& log,
               const Skopeo& skopeo, const std::string& architecture = "");

// Fetches docker:`name.path` for linux on `architecture` (OCI's word) into a layout in `folder`, and says how
// that is named. Throws as pull_base does.
ImageName pull_image(const ImageName& name, const std::string& architecture, const fs::path& folder,
                     const Skopeo& skopeo);

// The referrers of the image that pull_image fetched into `folder`, by the tag that stands for them where a
// registry has no API for referrers (distribution-spec: "sha256-…"). Without such a tag nothing is fetched.
// Throws as ask_registry does.
void pull_referrers(const ImageName& name, const Digest& image, const fs::path& folder, const Skopeo& skopeo);

// Which manifest an image reference names today: skopeo asks, the digest is of the bytes that it got.
class RegistryReader {
 public:
  explicit RegistryReader(Skopeo skopeo) : skopeo_(std::move(skopeo)) {}

  // The manifest for linux on `architecture` (OCI's word): the reference's own, or the one that its image
  // index lists; among several variants the one without, else the lowest. A reference is asked for once.
  // Throws Error(input) when there is none for it, and what ask_registry and throw_registry_error
  // throw.
  Digest digest(const std::string& reference, const std::string& architecture);

 private:
  std::string inspect(const std::string& reference, const std::string& what);
  void check_platform(const std::string& reference, const Digest& digest, const std::string& architecture);

  Skopeo skopeo_;
  std::map<std::string, std::string> manifests_;  // bytes by reference
};

}  // namespace kiln
