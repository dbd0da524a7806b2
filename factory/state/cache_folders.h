// Folders that scripts find again, bounded together:
//
//   <kind>/<id>/             what the tool keeps; nothing of it is ever looked into here
//   <kind>/<id>.uses/        a locked file for each step that uses it; its time is that of the last use
//   lock                     held while a use begins and while folders are chosen to go
//   .<unique>.tmp            a folder that goes
//
// All of it may be deleted at any time when no step runs.
#pragma once

#include <cstdint>
#include <string>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// While it lives the folder stays.
class CacheUse {
 public:
  CacheUse(fs::path folder, fs::path file, FileLock lock)
      : folder_(std::move(folder)), file_(std::move(file)), lock_(std::move(lock)) {}
  CacheUse(CacheUse&& other) = default;
  ~CacheUse();
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_, file_;
  FileLock lock_;
};

class CacheFolders {
 public:
  // REQUIRES: `root` is absolute.
  CacheFolders(fs::path root, FileSystem& files) : root_(std::move(root)), files_(files) {}

  // Makes the folder if it is missing. Throws Error(store), also for one that cannot be written to.
  CacheUse use(const std::string& kind, const std::string& id);
  // Deletes folders that no process uses, the least recently used first, until the others have `most` bytes.
  // Folders that cannot be removed stay. Throws Error(store), Error(interrupted).
  void shrink(std::uint64_t most);
  // Takes away what was damaged. A process that uses it continues in a folder without a name.
  void drop(const std::string& kind, const std::string& id);

 private:
  struct Kept;
  std::vector<Kept> kept() const;
  bool is_used(const fs::path& uses) const;
  fs::path set_aside(const fs::path& folder) const;
  void remove_what_is_aside() const;

  fs::path root_;
  FileSystem& files_;
};

}  // namespace kiln
