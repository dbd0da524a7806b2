#include "image/engine/private_folder.h"

#include "base/unique_name.h"

namespace kiln {
namespace {

fs::path lock_of(const fs::path& folder) { return folder.string() + ".lock"; }

void sweep(FileSystem& files, const fs::path& temporary) {
  for (const std::string& name : files.list(temporary)) {
    if (!name.starts_with("step-") || name.ends_with(".lock")) continue;
    if (!FileLock::try_acquire(lock_of(temporary / name))) continue;
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
  files.make_directories(path_);
}

PrivateFolder::~PrivateFolder() {
  std::error_code problem;  // what stays is swept by the next one
  fs::remove_all(path_, problem);
  if (!problem) fs::remove(lock_of(path_), problem);
}

}  // namespace kiln
