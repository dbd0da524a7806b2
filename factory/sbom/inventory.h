// What is installed in an image: its package databases, taken out of the layers as they stream by. Nothing is
// unpacked and nothing is run.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/oci/image_source.h"
#include "factory/oci/image_tree.h"
#include "factory/sbom/database_files.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {

struct Inventory {
  Distribution distribution;
  std::vector<Package> packages;  // sorted by ecosystem, name, version, architecture, database; each once
  // What is there and was not read, and why: "var/lib/rpm/Packages: Berkeley DB is not read". Sorted.
  std::vector<std::string> gaps;
};

// REQUIRES: `files` took the contents of `tree`'s layers. Damaged databases become gaps.
Inventory read_inventory(ImageTree& tree, const DatabaseFiles& files);

// The same for an image that is read for this alone. Throws Error(input) as LayerMerge does.
Inventory read_inventory(const SourceImage& image);

// As JSON, and back: the whole of it. Throws Error(input) for anything else.
Json to_json(const Inventory& inventory);
Inventory inventory_from_json(const JsonNode& node);

}  // namespace kiln::sbom
