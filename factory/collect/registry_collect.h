// The removal of what registry_garbage() found.
#pragma once

#include "factory/collect/registry_garbage.h"

namespace kiln {

struct RegistryCollected {
  bool is_refused = false;    // the registry refuses to delete manifests: all that are left stay
  std::size_t tags_left = 0;  // that it does not take away alone, and what they name stays
};

// Tags first, then image indexes, then of each image what lists its referrers, its signatures, the referrers,
// and the image last: killed at any moment, nothing that is named there lacks what it names, and the next run
// takes the rest. An image is marked as going before the first of it goes, so that whoever publishes it again
// meanwhile pushes it anew. Blobs are the registry's own to collect. Throws Error(network),
// Error(interrupted), Error(store). REQUIRES: the state's lock is held since before the survey, and the index
// has forgotten the images.
RegistryCollected collect_registry(const RegistryGarbage& garbage, RegistryClient& client,
                                   PushedNames& pushed);

}  // namespace kiln
