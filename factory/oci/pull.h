// Images out of registries, into OCI layouts: skopeo knows registries, their logins and their certificates.
#pragma once

#include <string>

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

}  // namespace kiln
