#include "factory/night/reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <random>

namespace kiln {
namespace {

namespace fs = std::filesystem;

bool write_all(int file, std::uint64_t bytes) {
  std::array<std::uint64_t, 8192> block{};
  std::mt19937_64 noise;  // the same each time: it only must not be compressed away
  while (bytes > 0) {
    for (std::uint64_t& word : block) word = noise();
    const ssize_t written = ::write(file, block.data(), std::min<std::uint64_t>(sizeof block, bytes));
    if (written <= 0) return false;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return ::fsync(file) == 0;  // a disk may say only then that it is full
}

}  // namespace

bool give_up_reserve(const fs::path& file) {
  std::error_code unknown;
  const fs::space_info space = fs::space(file.parent_path(), unknown);
  if (unknown || space.available >= kReserve) return false;
  return fs::remove(file, unknown);
}

void keep_reserve(const fs::path& file) {
  std::error_code none;
  if (fs::file_size(file, none) == kReserve && !none) return;
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (opened < 0) return;
  const bool is_whole = write_all(opened, kReserve);
  ::close(opened);
  if (!is_whole) fs::remove(file, none);
}

}  // namespace kiln
