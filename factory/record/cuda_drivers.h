// NVIDIA's drivers and the CUDA versions that they serve, from factory/record/cuda_drivers.json, which is
// dated and names its sources.
#pragma once

#include "factory/base/version.h"

namespace kiln {

// The oldest driver that runs machine code of this CUDA, by minor-version compatibility where there is any;
// empty for a CUDA that the table does not know.
Version oldest_driver(const Version& cuda);

// The driver that this CUDA came with: the oldest that compiles its PTX. Empty when it is not known.
Version shipped_driver(const Version& cuda);

}  // namespace kiln
