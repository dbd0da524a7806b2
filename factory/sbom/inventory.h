// Lists the installed packages of an image, from the package databases in its layers as they stream by.
// Unpacks nothing and runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/oci/image_source.h"
#include "factory/oci/image_tree.h"
#include "factory/oci/layer_extract.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {

// The package databases of an image, taken out of the layers as they stream by.

// SQLite's write-ahead log with a header and no change, or not even that
// (https://www.sqlite.org/fileformat2.html, 4.1). A larger one is not kept.
inline constexpr std::uint64_t kEmptyWal = 32;

// Bytes that are kept of a file with this path; 0: it is no package database, wherever links lead.
std::uint64_t database_limit(std::string_view path);

// The digest of the names of databases, and of how much of each is kept.
const std::string& database_table();

// One file after the other: of a package database what is read of it.
class DatabaseExtractor final : public ContentExtractor {
 public:
  void begin(std::string_view path);
  void append(std::string_view bytes) override;
  std::optional<std::string> end();             // nullopt: of another name, or too large
  void drop();                                  // nothing is kept of this file
  std::uint64_t size() const { return size_; }  // bytes of the file so far, while it is kept

  void begin_file(std::string_view path) override { begin(path); }
  std::string end_file() override;

 private:
  std::string path_;
  std::optional<std::string> kept_;
  std::uint64_t limit_ = 0;
  std::uint64_t size_ = 0;
};

// Keeps the contents of files that may be package databases, and only those.
class DatabaseFiles final : public ContentSink {
 public:
  void next_file(const PathTable& paths, NodeId path) override;
  std::uint32_t begin_file() override;
  void append(std::string_view bytes) override;
  void end_file() override;
  void take_extract(std::string_view extract) override;

  // nullptr where nothing was kept: of another name, or too large.
  const std::string* find(std::uint32_t content) const;

 private:
  void keep(std::string bytes);
  DatabaseExtractor file_;
  std::map<std::uint32_t, std::string> kept_;
  std::string path_;
  std::uint64_t total_ = 0;
  std::uint32_t files_ = 0;
};

struct Inventory {
  Distribution distribution;
  std::vector<Package> packages;  // sorted by ecosystem, name, version, architecture, database; each once
  // Databases that were not read, with the reason: "var/lib/rpm/Packages: Berkeley DB is not read". Sorted.
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
