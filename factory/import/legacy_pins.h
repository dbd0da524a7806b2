// Which version of something a legacy file names. Used by the import only; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/import/legacy_image.h"

namespace kiln {

// The leading digits and dots: "1.4" of "v1.4-cuda10.1"; "" when it starts with neither.
std::string leading_version(std::string_view text);

// The version of the package of this name, or of one of the words of a longer name ("gromacs-avx2"): of pip,
// conda, a wheel, a clone, an archive, the distribution, NAME_VERSION. "" when nothing pins it.
Said pinned_version(const LegacyFacts& facts, const std::string& name);

// Which processor and which GPUs the commands of a legacy file build for. Used by the import only; pure.

// Whether a word of a command line says what is built for: -march=haswell, -arch=sm_80.
bool is_tuning(std::string_view flag);

// archspec's name of the processor: of -march=, -mcpu=, -xCORE-AVX512, target-cpu=, -mavx2 and GROMACS's
// GMX_SIMD. "" where nothing says it. Of several, the one that runs the code of all others, else the last.
std::string cpu_of_build(const LegacyFacts& facts, const Microarchitectures& cpus);

// The words that name the GPUs, as written: "8.0;9.0+PTX", "sm_80", "gfx90a".
std::vector<std::string> gpus_of_build(const LegacyFacts& facts);

}  // namespace kiln
