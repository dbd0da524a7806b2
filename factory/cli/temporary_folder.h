#pragma once

#include <unistd.h>

#include <cstdlib>

#include "base/effects.h"

namespace kiln {

// A folder of our own that goes when the command ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kiln.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(ExitCode::store, "cannot create a folder in " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace kiln
