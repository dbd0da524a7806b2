// `kiln index fsck --registry`: whether the registry still has what the index answers with.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

class Invocation;

struct RegistryFsck {
  std::string registry;             // "registry.site:5000/ai"
  std::size_t images = 0;           // of the index, that are in it
  std::vector<std::string> mended;  // lost parts and tags that were pushed again
  std::vector<std::string> lost;    // what it lacks
  std::vector<std::string> left;    // tags that name other images
};

// Looks at everything. `asked`: "" for the site's registry. `read`: blobs to their last byte. `repair`: what
// is lost is pushed again, and tags that are missing are set. Throws Error(usage), Error(network). REQUIRES:
// with `repair` the state's lock is held.
RegistryFsck check_registry(const std::string& asked, bool read, bool repair, Invocation& invocation);
Json to_json(const RegistryFsck& found);
void print(const RegistryFsck& found);

// "registry.site:5000/ai, registry.other": those that images of the index are in; "" where there are none.
std::string registries_of_index(const Invocation& invocation);

}  // namespace kiln
