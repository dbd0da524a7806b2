// A temporary folder of one step: <state>/tmp/step-<pid>-<random>, removed with the object. Those of killed
// processes go when the next one is made: each is locked by its owner (<folder>.lock) for as long as it
// lives. Its files inherit nothing from the state folder (os/plain_folder.h), because scripts copy them.
#pragma once

#include <optional>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

class PrivateFolder {
 public:
  PrivateFolder(FileSystem& files, const fs::path& temporary);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  const fs::path& path() const { return path_; }  // absolute

 private:
  fs::path path_;
  std::optional<FileLock> lock_;
};

}  // namespace kiln
