// Files that are either complete or missing, also after a kill or a power cut: written under a private name,
// fsynced, renamed, both folders fsynced. A failure is an Error(store) with path and cause.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "factory/base/file_handle.h"

namespace kiln {

// A temporary `<host>-<pid>-<start time>-<n>.part`, mode 0600, and 0644 less the umask once it is published.
// The destructor removes it unless it was published. The start time of the process (ticks since boot)
// distinguishes a writer from a later process with the same id.
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
  FileHandle descriptor_;
  unsigned mode_ = 0;  // when it is published
};

// Waits until the names in the folder are on the disk. Some network file systems cannot: no failure.
void sync_folder(const std::filesystem::path& folder);

// Makes the folder and its parents, each entry fsynced.
void make_durable_folder(const std::filesystem::path& folder);

// Removes the remains of ended writers: those of this machine whose process has ended, and those of other
// machines (a shared file system) that were not touched for a week. Returns how many.
std::size_t drop_dead_files(const std::filesystem::path& folder);

[[noreturn]] void fail_with_errno(int error, const std::string& doing, const std::filesystem::path& path);

// A file of lines which several processes add to: an end without the beginning, or half a line between two,
// is nowhere. A process that makes it shorter replaces it (DurableFile), and holds the lock while it does.

// The file, made if need be, locked and the one of that name, for as long as this lives.
class LineFile {
 public:
  // Waits for the lock no longer than `patience`. A pipe, a link and a folder are never opened.
  LineFile(const std::filesystem::path& file, std::chrono::milliseconds patience);

  bool is_open() const { return descriptor_ >= 0; }  // false: errno says why

  // Appends all or nothing, after it ends the half-written line of a killed writer. False: errno has the
  // cause. REQUIRES: is_open().
  bool append(const std::string& lines);
  bool sync() const;                            // waits until the added lines are on the disk
  std::uint64_t size() const { return size_; }  // bytes, after an append

 private:
  void open(const std::filesystem::path& file);

  FileHandle descriptor_;
  std::uint64_t size_ = 0;
};

// Files in an image or a container have the modes 0755 and 0644, whatever the user's umask is.
inline constexpr unsigned kImageMask = 022;

// Holds for a scope, for all threads.
class FileMask {
 public:
  explicit FileMask(unsigned mask) : before_(::umask(mask)) {}
  ~FileMask() { ::umask(before_); }
  FileMask(const FileMask&) = delete;
  FileMask& operator=(const FileMask&) = delete;

 private:
  mode_t before_;
};

// Files and folders that are made aside, and what to do with those that a killed process left behind: their
// maker holds each locked (flock) for as long as it lives.

// `<folder>/<prefix><host>-<6 letters or digits>`.
struct LockedTemporary {
  std::filesystem::path path;
  int descriptor = -1;  // locked until it is closed; -1: errno says why
};

// A new one, of mode 0600 or 0700, open for reading and writing. First those go that the dead left in
// `folder` under such names: of this machine all, of others (a shared file system) what was not touched
// for a week. REQUIRES: only callers with this prefix make such names there.
LockedTemporary make_temporary_file(const std::filesystem::path& folder, const std::string& prefix);
LockedTemporary make_temporary_folder(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace kiln
