#include "factory/run/record_times.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "factory/base/durable_file.h"

namespace kiln {
namespace {

// ninja has nanoseconds in 64 bits, and 0 is a file that is missing.
bool is_before_1970(const timespec& time) { return time.tv_sec <= 0; }

std::size_t renew_in(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return 0;
  std::size_t renewed = 0;
  const int at = ::dirfd(open.get());
  while (const dirent* entry = ::readdir(open.get())) {
    struct stat status {};
    if (::fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
        !is_before_1970(status.st_mtim))
      continue;
    if (::utimensat(at, entry->d_name, nullptr, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
      fail_with_errno(errno, "set the time of", folder / entry->d_name);
    ++renewed;
  }
  return renewed;
}

}  // namespace

std::size_t renew_record_times(const StatePaths& state) {
  return renew_in(state.step_folder()) + renew_in(state.test_folder()) + renew_in(state.built_folder());
}

}  // namespace kiln
