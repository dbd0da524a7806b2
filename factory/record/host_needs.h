// What an image needs of its host beside its processor and GPUs, as its components' facts and its own glibc
// say.
#pragma once

#include <string>

#include "factory/base/json.h"
#include "factory/base/version.h"
#include "factory/record/mpi.h"

namespace kiln {

// What is empty is not known, and refuses nothing.
struct HostNeeds {
  Version driver;      // NVIDIA's, at least
  Version cuda;        // that its GPU code was made with
  Version kernel;      // at least
  Version glibc;       // the image's own: what is bound into it from the host can need no newer one
  MpiLibrary mpi;      // that programs in the image are linked with
  std::string vendor;  // of the processor: GenuineIntel
  // What the kernel must at least grant: madvise, or always (host_description.h).
  std::string transparent_hugepages{};
  bool empty() const;
};

// The oldest kernel that a glibc built as upstream does it runs on (glibc's
// sysdeps/unix/sysv/linux/configure.ac, arch_minimum_kernel); empty where that is not known.
Version kernel_floor(const Version& glibc, const std::string& family);

Json to_json(const HostNeeds& needs);
HostNeeds host_needs_from_json(const JsonNode& node);

}  // namespace kiln
