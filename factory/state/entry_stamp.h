// Detects changes of files and folders by their status, and keeps the last status.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "factory/base/effects.h"

namespace kiln {

// Inode, size and time of the last change of the entry itself; "gone" without it. An entry is another one, or
// was written since, if its stamp differs. A flipped bit on the disk changes no stamp.
std::string entry_stamp(const std::filesystem::path& path);

// The state of a folder at the last complete look at it.
struct KeptStamp {
  std::string stamp;    // of one line
  std::int64_t at = 0;  // seconds since 1970
  // Whether it still holds. A clock that went back ends it, as `longest` seconds do.
  bool holds(const std::string& now_stamp, std::int64_t now, std::int64_t longest) const;
};
// nullopt without that file, or if it is damaged.
std::optional<KeptStamp> read_stamp(const std::filesystem::path& file, const FileSystem& files);
// Throws Error(store).
void keep_stamp(const KeptStamp& kept, const std::filesystem::path& file, FileSystem& files);

}  // namespace kiln
