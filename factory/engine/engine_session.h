// The time during which a process uses an engine's store, and the cleaning up after processes that did not
// end well.
//
//   <store>/boot            since when the machine runs that the store was made on, and which folder it is
//   <store>.lock            held for moments, while sessions begin
//   <store>.sessions/<pid>-<random>   locked by a process for as long as it uses the store
//
// A session file that is not locked belongs to a process that was killed: the store may be damaged. As it is
// only a cache, it is deleted whole, as soon as no process uses it. So is one of before the last start of the
// machine: engines write it without waiting for the disk, so after a power cut files may be empty or old. And
// so is a copy: cp(1) keeps neither set-user-id bits nor owners, and later steps would be built on it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// The marks of an engine's store that show that it is in its original place and unchanged.

// Of the folder itself: it stays the same when the folder is moved within its file system, and is another one
// for a copy, whose files may have lost owners, modes and attributes on the way. "" where it is missing.
std::string store_mark(const std::filesystem::path& store);

// Unmounts the mounts that a killed engine left in a store, and deletes the store with its files outside.
// REQUIRES: no process uses it. Throws Error(store).
void delete_engine_folders(const fs::path& store, CommandRunner& runner, FileSystem& files,
                           const std::map<std::string, std::string>& environment);

class EngineSession {
 public:
  EngineSession(CommandRunner& runner, FileSystem& files, fs::path store,
                const std::map<std::string, std::string>& environment);
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;
  ~EngineSession();

  // The engine was stopped in the middle of something: the next session alone starts with an empty store.
  void distrust_store() { is_clean_ = false; }

  const fs::path& file() const { return file_; }  // locked while it lasts
  // Whether there were sessions of processes that were killed.
  bool met_dead() const { return met_dead_; }

  // Held while a parent is imported, so that two processes do not import it both.
  static fs::path import_lock(const fs::path& store) { return store.string() + ".import.lock"; }

 private:
  // The content of `boot` in a store that is made now.
  std::string origin() const;
  // Of another start of the machine, or a copy.
  bool is_foreign() const;

  FileSystem& files_;
  fs::path store_;
  fs::path file_;
  std::optional<FileLock> lock_;
  bool is_clean_ = true;
  bool met_dead_ = false;
};

// A run root of few characters: Podman takes none of more than 50 (libpod, runtime.go), as sockets lie below
// it, and a state folder may lie as deep as it likes. So it lies outside of the store, and the store's file
// `run-root` has its path. It goes with the store (engine_session.h), or with the machine's next start.

// The store's own folder; kiln makes a private one if it is missing. `environment`: XDG_RUNTIME_DIR. Throws
// Error(store).
fs::path make_run_root(const fs::path& store, FileSystem& files,
                       const std::map<std::string, std::string>& environment);

// The folder that the store names, if it belongs to this user and this store.
std::optional<fs::path> run_root_of(const fs::path& store, const FileSystem& files);

}  // namespace kiln
