// An open file, socket or pipe of this process, closed with its owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kiln {

// A descriptor, and converts to it; -1: none.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileHandle() { close(); }

  operator int() const { return descriptor_; }

  // Returns 0, or why it failed; errno stays that of the call before.
  int close() {
    const int before = errno;
    const int failure = descriptor_ >= 0 && ::close(descriptor_) != 0 ? errno : 0;
    descriptor_ = -1;
    errno = before;
    return failure;
  }

 private:
  int descriptor_ = -1;
};

}  // namespace kiln
