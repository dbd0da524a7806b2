// Files in memory, read-only: what is about to be written is read back first.
#pragma once

#include <map>
#include <string>

#include "factory/base/effects.h"

namespace kiln {

class MemoryFiles final : public FileSystem {
 public:
  // By path as text. REQUIRES: outlives this.
  explicit MemoryFiles(const std::map<std::string, std::string>& files) : files_(files) {}

  bool exists(const fs::path& path) const override {
    return files_.contains(path.string()) || is_directory(path);
  }
  bool is_directory(const fs::path& path) const override;
  std::vector<std::string> list(const fs::path& folder) const override;
  // Throw Error(store).
  void write(const fs::path& path, std::string_view) override { refuse(path); }
  void make_directories(const fs::path& path) override { refuse(path); }
  void remove_all(const fs::path& path) override { refuse(path); }
  void rename(const fs::path& from, const fs::path&) override { refuse(from); }

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override;
  [[noreturn]] static void refuse(const fs::path& path);
  const std::map<std::string, std::string>& files_;
};

}  // namespace kiln
