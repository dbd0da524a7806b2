// Objects that this kiln pushed to a registry and that are no longer needed: found by its own records
// (pushed.jsonl), the roots, and the tags of the registry. Objects of others are no garbage, and objects that
// their tags name stay.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "factory/collect/garbage.h"
#include "factory/collect/roots.h"
#include "factory/distribution/registry_client.h"
#include "factory/state/pushed.h"

namespace kiln {

struct RegistryTag {
  std::string name;  // "registry.site/ai/hello:2.10-…", as pushed.jsonl has it
  std::string repository, tag;
  Digest digest;  // of its manifest
};

struct RegistryImage {
  std::string name;  // "registry.site/ai/hello@sha256:…"
  std::string repository;
  Digest digest;
  PushedRecord record;
  std::string referrers_tag, signatures_tag;  // of lists that the registry has for it; "" where it has none
};

struct RegistryGarbage {
  std::vector<RegistryTag> tags;
  std::vector<RegistryImage> indexes, images;
  std::vector<std::string> forgotten;  // names that are there no more, or are another writer's by now
  std::vector<std::string> notes;
  // Manifests that tags which stay name, by repository: never taken away, whatever put them there.
  std::map<std::string, std::set<Digest>> kept;
  std::vector<Garbage> listed() const;  // for people, in the order of removal
};

struct RegistrySetup {
  RegistryClient& client;
  const PushedNames& pushed;
  const Roots& roots;
  std::set<std::string> aliases;  // of the site that stay: "modak:tensorflow-2.1-gpu-src"
};

// Asks only repositories in which something may go: for their tags, and what each names. Throws
// Error(network); Error(store) if there is no snapshot, so that it is not known what is needed.
RegistryGarbage registry_garbage(const RegistrySetup& setup);

// Number of this kiln's images in the registry that no root names, by its own records.
std::size_t unneeded_images(const RegistryAddress& address, const PushedNames& pushed, const Roots& roots);

// The removal of what registry_garbage() found.
struct RegistryCollected {
  bool is_refused = false;    // the registry refuses to delete manifests: all that are left stay
  std::size_t tags_left = 0;  // that it does not take away alone, and what they name stays
};

// Tags first, then image indexes, then of each image what lists its referrers, its signatures, the referrers,
// and the image last: killed at any moment, nothing that is named there lacks what it names, and the next run
// takes the rest. An image is marked before its first part is removed, so that a process that publishes it
// again meanwhile pushes it anew. Blobs are the registry's own to collect. Throws Error(network),
// Error(interrupted), Error(store). REQUIRES: the state's lock is held since before the survey, and the index
// has forgotten the images.
RegistryCollected collect_registry(const RegistryGarbage& garbage, RegistryClient& client,
                                   PushedNames& pushed);

}  // namespace kiln
