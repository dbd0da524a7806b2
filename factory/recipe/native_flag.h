// Flags that mean the machine that builds.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// The first flag in `text` that asks for the build machine's own processor or GPU (-march=native, -xHost,
// --offload-arch=native, CMAKE_CUDA_ARCHITECTURES=native, -DGGML_NATIVE=ON, …), "" when there is none: what
// it means depends on where it is built. A variable is asked for as "NAME=value".
std::string native_flag(std::string_view text);

// Whether such a flag means the GPU: -arch=native, CUDAARCHS=native.
bool is_for_gpu(std::string_view native_flag);

}  // namespace kiln
