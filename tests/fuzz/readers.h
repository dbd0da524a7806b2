// What the targets for kiln's own readers share: files in memory, and what a reader may do with bad bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln::fuzz {

// A disk of these files; nothing is ever written.
class FixedFiles final : public FileSystem {
 public:
  explicit FixedFiles(std::map<std::string, std::string> files, bool any = false)
      : files_(std::move(files)), any_(any) {}

  // `any`: a file that is not named above has the bytes "#".
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t) const override {
    auto found = files_.find(path.string());
    if (found != files_.end()) return found->second;
    return any_ ? std::optional<std::string>("#") : std::nullopt;
  }
  bool exists(const fs::path& path) const override { return any_ || files_.contains(path.string()); }
  bool is_directory(const fs::path&) const override { return false; }
  std::vector<std::string> list(const fs::path& folder) const override {
    std::vector<std::string> names;
    for (const auto& [path, bytes] : files_)
      if (fs::path(path).parent_path() == folder) names.push_back(fs::path(path).filename().string());
    return names;
  }
  void write(const fs::path&, std::string_view) override { __builtin_trap(); }
  void make_directories(const fs::path&) override { __builtin_trap(); }
  void remove_all(const fs::path&) override { __builtin_trap(); }
  void rename(const fs::path&, const fs::path&) override { __builtin_trap(); }

 private:
  std::map<std::string, std::string> files_;
  bool any_;
};

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// Runs `body`; the only way out but success is an Error(input) with a message.
template <typename Body>
int refuses_or_reads(Body body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() != ExitCode::input || error.message().empty() || error.format().empty())
      __builtin_trap();
  }
  return 0;
}

// archspec's table.
const Microarchitectures& some_cpus();

}  // namespace kiln::fuzz
