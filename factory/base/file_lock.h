// A lock between processes (flock): the kernel frees it when its holder dies, however that happens. Its
// holder may remove the file; who waits for it then makes a new one.
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
  // That of a file which is there and which nobody holds: its holder is dead. nullopt for every other.
  static std::optional<FileLock> of_the_dead(const std::filesystem::path& file);
  // Replaces the text of the lock's file: who holds it. For people; a failure to write is no error.
  void write(std::string_view text) const;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  static std::optional<FileLock> try_open(const std::filesystem::path& file, int flags);
  int fd_;
};

}  // namespace kiln
