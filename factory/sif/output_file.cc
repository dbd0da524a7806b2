#include "factory/sif/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"

namespace kiln::sif {

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  LockedTemporary made = make_temporary_file(folder, ".kiln-sif-");
  fd_ = FileHandle(made.descriptor);
  temporary_ = made.path;
  if (fd_ < 0) fail("create");
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* verb) const {
  int number = errno;
  throw Error(ExitCode::store, fmt::format("cannot {} {}: {}", verb, path_.string(), std::strerror(number)),
              hint_for(number));
}

void OutputFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ = std::max(size_, offset);
}

std::size_t OutputFile::read_at(std::uint64_t offset, char* bytes, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    ssize_t got = ::pread(fd_, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read back");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void OutputFile::truncate(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) fail("write");
  size_ = size;
}

void OutputFile::commit() {
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd_, 0755 & ~mask) != 0 || ::fsync(fd_) != 0) fail("write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to");
  fd_.close();
  fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const FileHandle opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened < 0 || ::fsync(opened) != 0) fail("sync the folder of");
}

}  // namespace kiln::sif
