#include "factory/state/entry_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace kiln {

std::string entry_stamp(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "gone";
  // The size of a folder says nothing that its time does not.
  return fmt::format("{} {} {}.{:09}", found.st_ino, S_ISDIR(found.st_mode) ? 0 : found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

}  // namespace kiln
