// The garbage that `kiln gc` removes, as a value: found first, printed, and removed only on request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// In the order of removal: a file that names others goes before those. A kill therefore leaves files without
// a name, and never a name without its files.
enum class GarbageKind {
  snapshot,    // of the index
  published,   // an image of the index: its row and its sidecar
  packaged,    // a record of built/
  plan,        // of a matrix that no longer exists, with the origins of its recipes
  test,        // a record
  step,        // a record
  failure,     // a record
  conversion,  // a record
  layout,      // of images/
  sif_folder,  // of sif.snapshots/
  blob,
  log,
  cache,         // of evidence/
  recipe,        // a component's files
  leaving,       // left by a killed process or an earlier kiln
  engine,        // an image of the engine's store, or what is in no image there
  pushed_tag,    // of a registry
  pushed_index,  // of a registry: what a name of the site's stood for
  pushed_image   // of a registry, with its documents there
};
std::string_view name_of(GarbageKind kind);  // "snapshot", "SIF folder"

struct Garbage {
  GarbageKind kind = GarbageKind::blob;
  std::string name;  // "snapshot 12", "hello:2.1-…-75869f925a83", "layer 2 of …"
  std::string why;   // "older than 30d, and not one of the newest 10"
  std::vector<std::filesystem::path> paths{};  // in the state folder; none where it is a row, or the engine's
  std::uint64_t bytes = 0;                     // that the disk gets back
  bool named = true;  // also by a removed row or record: false for caches, remains and unnamed files
};

// The space that the disk gains: a file counts when its last name is removed, with its blocks.

// Fills in `bytes` of each whose paths, files or folders below `root`, go together with all others. A file
// with several names there counts for the first that has it.
void measure(const std::filesystem::path& root, std::vector<Garbage>& garbage);

// Blocks of a file or of all below a folder, each file once; 0 where there is nothing.
std::uint64_t disk_use(const std::filesystem::path& path);

}  // namespace kiln
