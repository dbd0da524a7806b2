#include "factory/engine/private_folder.h"

#include <set>

#include "factory/os/plain_folder.h"

namespace kiln {
namespace {

fs::path lock_of(const fs::path& folder) { return folder.string() + ".lock"; }

// The lock is there before the folder and after it: a kill between leaves a lock alone.
void sweep(FileSystem& files, const fs::path& temporary) {
  std::set<std::string> folders;
  for (const std::string& name : files.list(temporary))
    if (name.starts_with("step-")) folders.insert(name.substr(0, name.find(".lock")));
  for (const std::string& name : folders) {
    const auto lock = FileLock::try_acquire(lock_of(temporary / name));
    if (!lock) continue;
    files.remove_all(temporary / name);
    files.remove_all(lock_of(temporary / name));
  }
}

}  // namespace

PrivateFolder::PrivateFolder(FileSystem& files, const fs::path& temporary)
    : path_(fs::absolute(temporary) / ("step-" + unique_name())) {
  FileLock sweeping = FileLock::acquire(fs::absolute(temporary) / ".lock");
  sweep(files, path_.parent_path());
  lock_ = FileLock::acquire(lock_of(path_));
  make_plain_folder(path_);
}

PrivateFolder::~PrivateFolder() {
  std::error_code problem;  // what stays is swept by the next one
  fs::remove_all(path_, problem);
  if (!problem) fs::remove(lock_of(path_), problem);
}

}  // namespace kiln
