#include "factory/evidence/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "factory/base/error.h"

namespace kiln::evidence {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ExitCode::store, fmt::format("cannot {} a temporary file: {}", what, std::strerror(errno)),
              "TMPDIR says where; it must hold the largest file of the image");
}

}  // namespace

Spool::~Spool() {
  unmap();
  if (fd_ >= 0) ::close(fd_);
}

void Spool::unmap() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
  mapped_ = nullptr;
}

void Spool::clear() {
  unmap();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  size_ = 0;
  memory_.clear();
}

void Spool::append(std::string_view bytes) {
  // Most files of an image are small. A large one goes to a file without a name, which is gone with the
  // process however it ends.
  if (fd_ < 0 && memory_.size() + bytes.size() > in_memory_) {
    fd_ = ::open(std::filesystem::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ < 0) fail("create");
    write(memory_);
    memory_ = {};
  }
  if (fd_ >= 0)
    write(bytes);
  else
    memory_.append(bytes);
  size_ += bytes.size();
}

void Spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view Spool::bytes() {
  if (fd_ < 0) return memory_;
  if (mapped_ == nullptr) {
    // Pages come as the scan reaches them, and may go again: files of several GiB need no memory of that
    // size.
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (mapped == MAP_FAILED) fail("map");
    mapped_ = mapped;
    mapped_size_ = size_;
  }
  return {static_cast<const char*>(mapped_), static_cast<std::size_t>(size_)};
}

}  // namespace kiln::evidence
