#include "factory/cli/installation.h"

#include <system_error>

namespace kiln {

fs::path shared_folder() {
  std::error_code problem;
  fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  return program.parent_path().parent_path() / "share" / "kiln";
}

}  // namespace kiln
