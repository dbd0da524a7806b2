// Which MPI libraries stand in for one another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/version.h"

namespace kiln {

// "openmpi@4.1.6"; the version may be missing.
struct MpiLibrary {
  std::string name;
  Version version{};
};

// The part before "@" and the one behind it. Throws Error(input) for what is no version.
MpiLibrary mpi_library(std::string_view text);

// Libraries of one family have one ABI: "mpich" (the MPICH ABI Compatibility Initiative, www.mpich.org/abi)
// or "openmpi"; "" for a name that is no MPI library's.
std::string_view mpi_family(std::string_view name);
const std::vector<std::string>& mpi_names();

}  // namespace kiln
