#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"

namespace kiln {

// A private folder, by default in $TMPDIR. kiln removes it when the command ends; after a kill, when it makes
// the next one.
class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(fs::temp_directory_path(), "kiln.tmp-", "TMPDIR says where") {}
  // REQUIRES: as make_temporary_folder.
  TemporaryFolder(const fs::path& folder, const std::string& prefix, const char* hint = "")
      : made_(make_temporary_folder(folder, prefix)) {
    if (made_.descriptor < 0)
      throw Error(ExitCode::store,
                  fmt::format("cannot create {}: {}", made_.path.string(), std::strerror(errno)), hint);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(made_.path, ignored);
    ::close(made_.descriptor);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return made_.path; }

 private:
  LockedTemporary made_;
};

}  // namespace kiln
