// What the site's own names stand for in a snapshot of the index.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "factory/distribution/platform_index.h"
#include "factory/oci/blob_store.h"
#include "factory/site/site.h"
#include "registry/index/index.h"

namespace kiln {

// A name, and its images: one a platform.
struct AliasedImages {
  std::string repository, tag;
  std::vector<std::pair<Platform, const ImageRecord*>> images;
};

struct ChosenAliases {
  std::vector<AliasedImages> clear;
  std::vector<std::string> unclear;  // and why: "modak:gpu: hello:2.10-… and hello:2.1-… are both for …"
  std::vector<std::string> empty;    // names for which there is no image
};

// Of the images that lie in this registry and are not retired. Platforms are read from the images'
// configurations: throws Error(store); Error(usage) for a pattern that is none. The images are those of
// `entries`.
ChosenAliases choose_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
                             const std::string& registry, const BlobStore& store);

}  // namespace kiln
