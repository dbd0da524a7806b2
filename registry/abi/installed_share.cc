#include "registry/abi/installed_share.h"

#include <dlfcn.h>

#include "factory/base/error.h"
#include "registry/abi/kiln_registry.h"

namespace kiln {
namespace fs = std::filesystem;

fs::path installed_share() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&kiln_registry_abi), &found) == 0 || found.dli_fname == nullptr)
    throw Error(ExitCode::tool_missing, "the loader does not say where libkiln_registry is");
  std::error_code problem;
  const fs::path library = fs::canonical(found.dli_fname, problem);
  fs::path folder = library.parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (fs::path share = folder / "share" / "kiln"; fs::exists(share / "archspec", problem)) return share;
  }
  throw Error(ExitCode::tool_missing,
              "no share/kiln with archspec's tables above " + library.parent_path().string(),
              "name that folder in the options of kiln_registry_open()");
}

}  // namespace kiln
