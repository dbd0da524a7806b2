// GPU code inside ELF files: which architectures it was compiled for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/evidence/elf_file.h"

namespace kiln::evidence {

struct GpuCode {
  std::vector<std::string> sm;       // CUDA machine code: "sm_80"; sorted by number
  std::vector<std::string> compute;  // PTX, compiled when loaded: "compute_90"
  std::vector<std::string> gfx;      // AMD: "gfx90a", features included ("gfx90a:xnack-")
  bool empty() const { return sm.empty() && compute.empty() && gfx.empty(); }
};

// Reads .nv_fatbin (and __nv_relfatbin of relocatable device code) and .hip_fatbin. Damage ends the reading
// of a section and is added to `problems`.
GpuCode gpu_code(const ElfFile& file, std::vector<std::string>& problems);

// Whether what was added to `problems` means that there is more code for AMD's GPUs than `gfx` says.
bool hides_gfx(std::string_view problem);

// The parts, for tests. `bytes` is a section's contents.
void read_cuda_fat_binaries(std::string_view bytes, GpuCode& code, std::vector<std::string>& problems);
void read_offload_bundles(std::string_view bytes, GpuCode& code, std::vector<std::string>& problems);

}  // namespace kiln::evidence
