// Files that are there whole or not at all, whatever is killed or loses power: written under a private name,
// fsynced, renamed, both folders fsynced. Every failure is Error(store) that names the path and the system's
// reason.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace kiln {

// A temporary `<host>-<pid>-<start time>-<n>.part`, mode 0600, and 0644 less the umask once it is published.
// The destructor removes it unless it was. The start time of the process (ticks since boot) tells a writer
// from a later process with the same id.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path folder);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t size);
  // Makes the parent folder of `path`; replaces a file of that name. May be called once.
  void publish(const std::filesystem::path& path);

 private:
  std::filesystem::path folder_;
  std::filesystem::path name_;
  int descriptor_ = -1;
  unsigned mode_ = 0;  // when it is published
};

// Waits until the names in the folder are on the disk. Some network file systems cannot: no failure.
void sync_folder(const std::filesystem::path& folder);

// Makes the folder and its parents, each entry fsynced.
void make_durable_folder(const std::filesystem::path& folder);

// Removes what writers left that are gone: those of this machine whose process has ended, and those of other
// machines (a shared file system) that nobody has touched for a week. Returns how many.
std::size_t drop_dead_files(const std::filesystem::path& folder);

[[noreturn]] void fail_with_errno(int error, const std::string& doing, const std::filesystem::path& path);

}  // namespace kiln
