#include "image/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kiln {

StateLock::StateLock(const fs::path& file, const Clock& clock, const std::string& purpose) {
  RealFileSystem files;
  files.make_directories(file.parent_path());
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0)
    throw Error(ExitCode::store, fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    int reason = errno;
    std::string holder = files.read(file).value_or("");
    ::close(fd_);
    if (reason != EWOULDBLOCK)
      throw Error(ExitCode::store, fmt::format("cannot lock {}: {}", file.string(), std::strerror(reason)));
    throw Error(ExitCode::locked, fmt::format("{} is in use: {}", file.parent_path().string(), holder),
                "wait for it, or give this run another --state folder");
  }
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string text = fmt::format("{} by process {} on {} since {}", purpose, ::getpid(), host,
                                 rfc3339(clock.unix_seconds()));
  if (::ftruncate(fd_, 0) == 0) [[maybe_unused]]
    ssize_t written = ::pwrite(fd_, text.data(), text.size(), 0);
}

StateLock::~StateLock() {
  if (::ftruncate(fd_, 0) != 0) errno = 0;
  ::close(fd_);
}

}  // namespace kiln
