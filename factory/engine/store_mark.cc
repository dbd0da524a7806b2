#include "factory/engine/store_mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace kiln {

// File systems number a copy's folder anew. The time when it was made tells two file systems apart, where
// they know it.
std::string store_mark(const std::filesystem::path& store) {
  struct statx status {};
  if (::statx(AT_FDCWD, store.c_str(), 0, STATX_INO | STATX_BTIME, &status) != 0) return "";
  std::string mark = fmt::format("inode {}", status.stx_ino);
  if ((status.stx_mask & STATX_BTIME) != 0)
    mark += fmt::format(", made {}.{:09}", status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
  return mark;
}

}  // namespace kiln
