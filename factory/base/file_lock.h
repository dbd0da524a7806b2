// A lock between processes (flock): the kernel frees it when its holder dies, however that happens.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace kiln {

class FileLock {
 public:
  // Makes the file (and its folders) and waits for the lock. Throws Error(store), Error(interrupted).
  static FileLock acquire(const std::filesystem::path& file);
  // nullopt when another process holds it.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& file);
  // Replaces the text of the lock's file: who holds it. For people; a failure to write is no error.
  void write(std::string_view text) const;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kiln
