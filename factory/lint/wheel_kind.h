// Python packages that are for GPUs, or for CPUs only: the table of data/wheels.json.
#pragma once

#include <string>
#include <vector>

#include "factory/source/requirements_file.h"

namespace kiln::lint {

struct WheelKind {
  std::string name;
  std::string version = "*";
  std::string extra = "*";
  std::string unless_index;
  std::string architecture;
  std::vector<std::string> unless_with;  // globs over `name==version` of packages that are installed with it
  bool gpu = false;
  bool runs_anywhere = false;  // it is only larger than a CPU needs
  std::string why;
};

// `index`: of the call or file that names the package; `architecture`: amd64, "" where it is not known;
// `beside`: `name==version` of all packages that are installed with it. Null for a package that is for any
// machine.
const WheelKind* wheel_kind(const PipPackage& package, const std::string& index,
                            const std::string& architecture, const std::vector<std::string>& beside = {});

}  // namespace kiln::lint
