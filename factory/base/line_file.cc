#include "factory/base/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kPause{1};

bool is_named(int descriptor, const std::filesystem::path& file) {
  struct stat held {};
  struct stat named {};
  if (::fstat(descriptor, &held) != 0 || ::stat(file.c_str(), &named) != 0) return false;
  if (!S_ISREG(held.st_mode)) {
    errno = EINVAL;
    return false;
  }
  return held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (open(file); descriptor_ < 0 && std::chrono::steady_clock::now() < until; open(file))
    std::this_thread::sleep_for(kPause);
}

LineFile::~LineFile() { close(); }

void LineFile::open(const std::filesystem::path& file) {
  // O_NONBLOCK: a pipe without a reader would wait for ever
  descriptor_ = ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (descriptor_ >= 0 && (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || !is_named(descriptor_, file)))
    close();
}

void LineFile::close() {
  const int why = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  errno = why;
}

bool LineFile::append(const std::string& lines) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (before < 0) return false;
  char last = '\n';
  if (before > 0 && ::pread(descriptor_, &last, 1, before - 1) != 1) return false;
  const std::string whole = (last == '\n' ? "" : "\n") + lines;
  const ssize_t written = ::write(descriptor_, whole.data(), whole.size());
  if (written == static_cast<ssize_t>(whole.size())) {
    size_ = static_cast<std::uint64_t>(before) + whole.size();
    return true;
  }
  const int why = written < 0 ? errno : ENOSPC;
  static_cast<void>(::ftruncate(descriptor_, before) == 0);
  errno = why;
  return false;
}

bool LineFile::sync() const { return ::fsync(descriptor_) == 0; }

}  // namespace kiln
