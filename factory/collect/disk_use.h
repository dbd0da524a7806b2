// What the disk gets back: a file counts when its last name goes, with the blocks that it has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "factory/collect/garbage.h"

namespace kiln {

// Fills in `bytes` of each whose paths, files or folders below `root`, go together with all others. A file
// with several names there counts for the first that has it.
void measure(const std::filesystem::path& root, std::vector<Garbage>& garbage);

// Blocks of a file or of all below a folder, each file once; 0 where there is nothing.
std::uint64_t disk_use(const std::filesystem::path& path);

}  // namespace kiln
