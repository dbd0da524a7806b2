// A cache that kiln may lose: files in one folder, each with a proof of its contents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "factory/base/effects.h"

namespace kiln {

// A file holds the SHA-256 of version, name and bytes in hexadecimal, a line feed, the bytes. A damaged file,
// one that was kept under another name, and one of another version are as good as absent. All may be deleted
// at any time.
class CacheFolder {
 public:
  // The folder is made when something is kept. `version`: of the code that makes what is kept; one line.
  // REQUIRES: `files` outlives this.
  CacheFolder(fs::path folder, std::string version, FileSystem& files)
      : folder_(std::move(folder)), version_(std::move(version)), files_(files) {}

  // nullopt also for a file that cannot be read. Throws Error(interrupted).
  std::optional<std::string> find(const std::string& name) const;
  void keep(const std::string& name, std::string_view bytes);  // throws Error(store)
  fs::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::string proof_of(std::string_view name, std::string_view bytes) const;

  fs::path folder_;
  std::string version_;
  FileSystem& files_;
};

}  // namespace kiln
