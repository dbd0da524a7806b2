#include "factory/cli/installation.h"

#include <system_error>

namespace kiln {

fs::path shared_folder() {
  std::error_code problem;
  fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  const fs::path folder = program.parent_path();
  const fs::path installed = folder.parent_path() / "share" / "kiln";
  const fs::path checkout = folder.parent_path().parent_path();
  const bool is_built_there = fs::exists(folder / "CMakeCache.txt", problem) &&
                              fs::exists(checkout / "recipes", problem) &&
                              fs::exists(checkout / "CMakeLists.txt", problem);
  return is_built_there ? checkout : installed;
}

}  // namespace kiln
