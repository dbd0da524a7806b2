#include "factory/oci/sparse_write.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kiln {
namespace {

constexpr std::size_t kHoleBlock = 4096;

bool is_hole(std::string_view block) {
  return block.size() == kHoleBlock && block.front() == '\0' &&
         std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0;
}

// Bytes at the front that are a hole, or that are none.
std::size_t run_length(std::string_view bytes, bool hole) {
  std::size_t size = 0;
  while (size < bytes.size() && is_hole(bytes.substr(size, kHoleBlock)) == hole)
    size += std::min(kHoleBlock, bytes.size() - size);
  return size;
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int write_sparse(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    if (const std::size_t hole = run_length(bytes, true); hole > 0) {
      if (::lseek(file, static_cast<off_t>(hole), SEEK_CUR) < 0) return errno;
      bytes.remove_prefix(hole);
      continue;
    }
    const std::size_t size = run_length(bytes, false);
    if (const int problem = write_all(file, bytes.substr(0, size)); problem != 0) return problem;
    bytes.remove_prefix(size);
  }
  return 0;
}

int finish_sparse(int file) {
  const off_t end = ::lseek(file, 0, SEEK_CUR);
  return end < 0 || ::ftruncate(file, end) != 0 ? errno : 0;
}

}  // namespace kiln
