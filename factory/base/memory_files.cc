#include "factory/base/memory_files.h"

#include <set>

namespace kiln {

std::optional<std::string> MemoryFiles::read_bytes(const fs::path& path, std::uint64_t) const {
  auto found = files_.find(path.string());
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

bool MemoryFiles::is_directory(const fs::path& path) const {
  std::string prefix = path.string() + "/";
  auto next = files_.lower_bound(prefix);
  return next != files_.end() && next->first.starts_with(prefix);
}

std::vector<std::string> MemoryFiles::list(const fs::path& folder) const {
  std::string prefix = folder.string() + "/";
  std::set<std::string> names;
  for (auto at = files_.lower_bound(prefix); at != files_.end() && at->first.starts_with(prefix); ++at)
    names.insert(at->first.substr(prefix.size(), at->first.find('/', prefix.size()) - prefix.size()));
  return {names.begin(), names.end()};
}

void MemoryFiles::refuse(const fs::path& path) {
  throw Error(ExitCode::store, path.string() + ": files in memory are read only");
}

}  // namespace kiln
