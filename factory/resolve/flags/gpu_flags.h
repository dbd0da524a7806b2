// Names of a target's accelerators in the build systems of GPU code: binaries for each of them, and PTX for
// the newest, which later GPUs can still compile. Spellings: CUDA's nvcc manual ("GPU Compilation"), CMake's
// CUDA_ARCHITECTURES, PyTorch's torch.utils.cpp_extension, TensorFlow's configure.py, Clang's HIP support.
// Used by resolve only.
#pragma once

#include <string>
#include <vector>

#include "factory/recipe/target.h"

namespace kiln {

// "sm_80 sm_90": the accelerators without their vendors.
std::string gpu_targets(const Target& target);

// Those of one vendor, oldest first, each once. Throws Error(input) for an invalid compute capability.
std::vector<std::string> nvidia_targets(const Target& target);  // sm_80, sm_90a
std::vector<std::string> amd_targets(const Target& target);     // gfx90a

// Each "" when the target has no such accelerator.
std::string cuda_archs(const Target& target);        // 8.0;9.0+PTX        PyTorch's TORCH_CUDA_ARCH_LIST
std::string cuda_cmake_archs(const Target& target);  // 80-real;90         CMAKE_CUDA_ARCHITECTURES, CUDAARCHS
std::string cuda_tensorflow(const Target& target);   // sm_80,compute_90   TF_CUDA_COMPUTE_CAPABILITIES
std::string cuda_gencode(const Target& target);      // -gencode=arch=compute_80,code=sm_80 …
std::string hip_archs(const Target& target);  // gfx90a;gfx942      PYTORCH_ROCM_ARCH, CMAKE_HIP_ARCHITECTURES
std::string hip_offload_archs(const Target& target);  // --offload-arch=gfx90a …

// A note about the PTX, mostly "": that of an architecture-specific target (sm_90a) runs nowhere else.
std::string ptx_note(const Target& target);

}  // namespace kiln
