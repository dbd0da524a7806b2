// Files in memory below a folder that cannot be listed. On a disk root lists every folder.
#pragma once

#include "support/fake_effects.h"

namespace kiln::testing {

// Folders that are called "locked".
class LockedFolder final : public FileSystem {
 public:
  explicit LockedFolder(std::map<std::string, std::string> content) : all_(std::move(content)) {}

  std::vector<std::string> list(const fs::path& folder) const override {
    if (folder.filename() == "locked")
      throw Error(ExitCode::store, "cannot list " + folder.string() + ": Permission denied");
    return all_.list(folder);
  }
  void write(const fs::path& path, std::string_view bytes) override { all_.write(path, bytes); }
  bool exists(const fs::path& path) const override { return all_.exists(path); }
  bool is_directory(const fs::path& path) const override { return all_.is_directory(path); }
  void make_directories(const fs::path& path) override { all_.make_directories(path); }
  void remove_all(const fs::path& path) override { all_.remove_all(path); }
  void rename(const fs::path& from, const fs::path& to) override { all_.rename(from, to); }

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override {
    return all_.read(path, most);
  }
  FakeFileSystem all_;
};

}  // namespace kiln::testing
