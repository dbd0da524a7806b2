// Folders whose files are counted: "1", "2", … Pure but for the look into the folder.
#pragma once

#include <cstdint>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

// The numbers that are names in `folder`, smallest first; other names, and numbers too large for a count, are
// left out.
std::vector<std::int64_t> numbers_in(const fs::path& folder, const FileSystem& files);

}  // namespace kiln
