#include "factory/fetch/installed_packages.h"

#include <fmt/format.h>

#include "factory/sbom/control_file.h"

namespace kiln {

AptPackages packages_in_status(std::string_view status) {
  AptPackages packages;
  sbom::ControlReader reader(status);
  while (const auto paragraph = reader.next()) {
    const std::string& state = paragraph->at("Status");
    if (!state.ends_with(" installed")) continue;
    const std::string& architecture = paragraph->at("Architecture");
    const std::string suffix = architecture == "all" ? "" : ":" + architecture;
    packages.insert(fmt::format("{}{}={}", paragraph->at("Package"), suffix, paragraph->at("Version")));
  }
  return packages;
}

}  // namespace kiln
