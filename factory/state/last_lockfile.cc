#include "factory/state/last_lockfile.h"

#include <fmt/format.h>

#include "factory/base/digest.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kKeptEnding = ".json";
constexpr std::uint64_t kMostLockfile = 64u << 20;

fs::path kept_file(const StatePaths& state, const std::string& matrix, const std::string& checked_out) {
  return state.last_lockfile(fmt::format("{}.{}", matrix, Digest::of(checked_out).hex()));
}

// Of this matrix, whatever it was made of: "demo.<64 digits>.json", and never demo.x's.
bool is_kept_of(const std::string& matrix, std::string_view file) {
  if (!file.starts_with(matrix + ".") || !file.ends_with(kKeptEnding)) return false;
  const std::string_view digest =
      file.substr(matrix.size() + 1, file.size() - matrix.size() - 1 - kKeptEnding.size());
  return digest.size() == 64 && is_hex(digest);
}

}  // namespace

std::optional<std::string> last_lockfile(const FileSystem& files, const StatePaths& state,
                                         const std::string& matrix, const std::string& checked_out) {
  return files.read(kept_file(state, matrix, checked_out), kMostLockfile);
}

void keep_lockfile(FileSystem& files, const StatePaths& state, const std::string& matrix,
                   const std::string& checked_out, const std::string& made) {
  const fs::path file = kept_file(state, matrix, checked_out);
  if (files.read(file, kMostLockfile) != made) files.write(file, made);
  for (const std::string& other : files.list(file.parent_path()))
    if (is_kept_of(matrix, other) && other != file.filename()) files.remove_all(file.parent_path() / other);
}

}  // namespace kiln
