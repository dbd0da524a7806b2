// A lock between processes (flock): the kernel frees it when its holder dies, however that happens. Its
// holder may remove the file; a waiting process then makes a new one. A symbolic link is refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "factory/base/file_handle.h"

namespace kiln {

// shared: any number of processes hold it at once, and none of them while one holds it exclusively.
enum class LockKind { exclusive, shared };

class FileLock {
 public:
  // Makes the file (and its folders) and waits for the lock. Throws Error(store), Error(interrupted).
  static FileLock acquire(const std::filesystem::path& file, LockKind kind = LockKind::exclusive);
  // nullopt when another process holds it.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& file,
                                             LockKind kind = LockKind::exclusive);
  // That of a file which is there and which no process holds: its holder is dead. nullopt for every other.
  static std::optional<FileLock> of_the_dead(const std::filesystem::path& file);
  // Replaces the text of the lock's file, which names the holder. For people; a failure to write is no error.
  void write(std::string_view text) const;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  static std::optional<FileLock> try_open(const std::filesystem::path& file, int flags, LockKind kind);
  FileHandle fd_;
};

// A lock for the time of one piece of work. Removes its file when the work ends, also by an exception, and
// while it still holds the lock: later, the file could be the next holder's. That of a killed process is left
// to the process that does the same work next.
class PassingLock {
 public:
  // As FileLock::acquire.
  explicit PassingLock(std::filesystem::path file);
  // `lock`: of that file.
  PassingLock(std::filesystem::path file, FileLock lock) : file_(std::move(file)), lock_(std::move(lock)) {}
  PassingLock(PassingLock&& other) noexcept;
  PassingLock& operator=(PassingLock&&) = delete;
  ~PassingLock();
  void write(std::string_view text) const { lock_.write(text); }  // as FileLock::write

 private:
  std::filesystem::path file_;
  FileLock lock_;
};

}  // namespace kiln
