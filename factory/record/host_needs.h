// Needs of an image in addition to processor and GPUs, from its components' facts and its own glibc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/version.h"

namespace kiln {

// Which MPI libraries can replace one another.

// "openmpi@4.1.6"; the version may be missing.
struct MpiLibrary {
  std::string name;
  Version version{};
};

// The parts before and after "@". Throws Error(input) for an invalid version.
MpiLibrary mpi_library(std::string_view text);

// Libraries of one family have one ABI: "mpich" (the MPICH ABI Compatibility Initiative, www.mpich.org/abi)
// or "openmpi"; "" for a name that is no MPI library's.
std::string_view mpi_family(std::string_view name);
const std::vector<std::string>& mpi_names();

// An empty value is not known, and refuses no host.
struct HostNeeds {
  Version driver;      // NVIDIA's, at least
  Version cuda;        // that its GPU code was made with
  Version kernel;      // at least
  Version glibc;       // the image's own: what is bound into it from the host can need no newer one
  MpiLibrary mpi;      // that programs in the image are linked with
  std::string vendor;  // of the processor: GenuineIntel
  // The least that the kernel must grant: madvise, or always (host_description.h).
  std::string transparent_hugepages{};
  bool empty() const;
};

// The oldest kernel that a glibc built as upstream does it runs on (glibc's
// sysdeps/unix/sysv/linux/configure.ac, arch_minimum_kernel); empty where that is not known.
Version kernel_floor(const Version& glibc, const std::string& family);

Json to_json(const HostNeeds& needs);
HostNeeds host_needs_from_json(const JsonNode& node);

// NVIDIA's drivers and the CUDA versions that they serve, from factory/record/cuda_drivers.json, which is
// dated and names its sources.

// The oldest driver that runs machine code of this CUDA, by minor-version compatibility where there is any;
// empty for a CUDA that the table does not know.
Version oldest_driver(const Version& cuda);

// The driver that this CUDA came with: the oldest that compiles its PTX. Empty when it is not known.
Version shipped_driver(const Version& cuda);

}  // namespace kiln
