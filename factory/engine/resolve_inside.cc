#include "factory/engine/resolve_inside.h"

#include <deque>

namespace kiln {

fs::path resolve_inside(const fs::path& root, const std::string& path) {
  fs::path wanted = fs::path(path).lexically_normal().relative_path();
  std::deque<fs::path> left(wanted.begin(), wanted.end());
  while (!left.empty() && left.back().empty()) left.pop_back();  // a slash at the end
  fs::path at;                                                   // relative to root, free of links
  int links = 0;
  while (!left.empty()) {
    fs::path name = left.front();
    left.pop_front();
    if (name == "." || name.empty()) continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    bool is_last = left.empty();
    if (is_last || !fs::is_symlink(fs::symlink_status(root / at / name))) {
      at /= name;
      continue;
    }
    if (++links > 40) throw Error(ExitCode::images_failed, "too many symbolic links on the way to " + path);
    fs::path target = fs::read_symlink(root / at / name);
    if (target.is_absolute()) at.clear();
    fs::path steps = target.relative_path();
    left.insert(left.begin(), steps.begin(), steps.end());
  }
  return root / at;
}

}  // namespace kiln
