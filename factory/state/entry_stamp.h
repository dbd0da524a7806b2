// What tells by a look at a file or folder whether it changed.
#pragma once

#include <filesystem>
#include <string>

namespace kiln {

// Inode, size and time of the last change of the entry itself; "gone" without it. An entry is another one, or
// was written since, if its stamp differs. A flipped bit on the disk changes no stamp.
std::string entry_stamp(const std::filesystem::path& path);

}  // namespace kiln
