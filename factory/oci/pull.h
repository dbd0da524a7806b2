// Images out of registries, into OCI layouts: skopeo knows registries, their logins and their certificates.
#pragma once

#include <map>
#include <string>

#include "base/effects.h"
#include "oci/image_source.h"

namespace kiln {

// Who asks. `environment`: of skopeo; its REGISTRY_AUTH_FILE, CONTAINERS_REGISTRIES_CONF and proxies are
// honoured. REQUIRES: `runner` outlives this.
struct Skopeo {
  CommandRunner& runner;
  std::map<std::string, std::string> environment;
};

// Fetches the image `reference` (docker://…, oci:…; without a transport docker://) into `layout`. Throws as
// throw_registry_error does.
void pull_base(const std::string& reference, const fs::path& layout, const fs::path& log,
               const Skopeo& skopeo);

// Fetches docker:`name.path` for linux on `architecture` (OCI's word) into a layout in `folder`, and says how
// that is named. Throws as throw_registry_error does.
ImageName pull_image(const ImageName& name, const std::string& architecture, const fs::path& folder,
                     const Skopeo& skopeo);

// The referrers of the image that pull_image fetched into `folder`, by the tag that stands for them where a
// registry has no API for referrers (distribution-spec: "sha256-…"). Without such a tag nothing is fetched.
void pull_referrers(const ImageName& name, const Digest& image, const fs::path& folder, const Skopeo& skopeo);

}  // namespace kiln
