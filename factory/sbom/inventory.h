// What is installed in an image: its package databases, taken out of the layers as they stream by. Nothing is
// unpacked and nothing is run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "oci/image_source.h"
#include "oci/image_tree.h"
#include "oci/layer_merge.h"
#include "sbom/package.h"

namespace kiln::sbom {

// Keeps the contents of files that may be package databases, and only those.
class DatabaseFiles final : public ContentSink {
 public:
  void next_file(const PathTable& paths, NodeId path) override;
  std::uint32_t begin_file() override;
  void append(std::string_view bytes) override;
  void end_file() override;

  // nullptr where nothing was kept: of another name, or too large.
  const std::string* find(std::uint32_t content) const;

 private:
  std::map<std::uint32_t, std::string> kept_;
  std::string path_;
  std::uint64_t limit_ = 0;  // bytes of the file that streams by; 0 = not wanted
  std::uint64_t total_ = 0;
  std::uint32_t files_ = 0;
};

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
