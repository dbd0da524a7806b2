#include "factory/os/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "factory/base/effects.h"

namespace kiln {
namespace {

// A file that its holder removed while we opened it is nobody's lock.
bool is_still_named(int fd, const fs::path& file) {
  struct stat held {
  }, named{};
  return ::fstat(fd, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

void need_file(int fd, const fs::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ExitCode::store, fmt::format("the lock {} is not a regular file", file.string()),
                "remove it: kiln makes a file in its place");
}

}  // namespace

std::optional<FileLock> FileLock::try_open(const fs::path& file, int flags, LockKind kind) {
  int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0644);
  if (fd < 0 && errno == ENOENT && flags == 0) return std::nullopt;
  if (fd < 0 && errno == ELOOP)
    throw Error(
        ExitCode::store,
        fmt::format("the lock {} is a symbolic link, and kiln may not write its target", file.string()),
        "remove the link: kiln makes a file in its place");
  if (fd < 0)
    throw Error(ExitCode::store,
                fmt::format("cannot open the lock {}: {}", file.string(), std::strerror(errno)));
  FileLock lock(fd);
  need_file(fd, file);
  if (::flock(fd, (kind == LockKind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) {
    if (is_still_named(fd, file)) return lock;
    return try_open(file, flags, kind);
  }
  if (errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
  throw Error(ExitCode::store, fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)),
              "the state folder must be on a file system that knows flock");
}

std::optional<FileLock> FileLock::try_acquire(const fs::path& file, LockKind kind) {
  RealFileSystem().make_directories(file.parent_path());
  return try_open(file, O_CREAT, kind);
}

std::optional<FileLock> FileLock::of_the_dead(const fs::path& file) {
  return try_open(file, 0, LockKind::exclusive);
}

FileLock FileLock::acquire(const fs::path& file, LockKind kind) {
  while (true) {
    if (auto lock = try_acquire(file, kind)) return std::move(*lock);
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted while waiting for " + file.string());
    ::usleep(20'000);
  }
}

void FileLock::write(std::string_view text) const {
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) < 0) errno = 0;
}

PassingLock::PassingLock(fs::path file) : file_(std::move(file)), lock_(FileLock::acquire(file_)) {}

PassingLock::PassingLock(PassingLock&& other) noexcept
    : file_(std::exchange(other.file_, fs::path())), lock_(std::move(other.lock_)) {}

PassingLock::~PassingLock() {
  if (file_.empty()) return;
  std::error_code ignored;  // it is unlocked with us
  fs::remove(file_, ignored);
}

}  // namespace kiln
