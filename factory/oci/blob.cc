#include "factory/oci/blob.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kiln {

ReadOnlyFile::ReadOnlyFile(const fs::path& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0)
    throw Error(ExitCode::input, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ExitCode::input, fmt::format("cannot read {}: not a regular file", path.string()));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void ReadOnlyFile::look_again() {
  struct stat status {};
  if (::fstat(fd_, &status) != 0)
    throw Error(ExitCode::store, fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void ReadOnlyFile::fail(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::input, SourceLocation{path_.string(), 0, 0, ""}, what, hint);
}

std::size_t ReadOnlyFile::read_at(std::uint64_t offset, char* bytes, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    ssize_t got = ::pread(fd_, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ExitCode::store, fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string ReadOnlyFile::section(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) const {
  if (size > limit)
    throw Error(ExitCode::input, fmt::format("{}: {} bytes at {} are over the limit of {}", path_.string(),
                                             size, offset, limit));
  if (offset > size_ || size > size_ - offset)
    throw Error(ExitCode::input, fmt::format("{}: ends at byte {}, before the {} bytes at {}", path_.string(),
                                             size_, size, offset));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bytes.resize(read_at(offset, bytes.data(), bytes.size()));
  if (bytes.size() != size)
    throw Error(ExitCode::store, fmt::format("{}: became shorter while it was read", path_.string()));
  return bytes;
}

}  // namespace kiln
