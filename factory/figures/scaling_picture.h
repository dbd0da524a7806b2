// The oracle's answers as a picture: efficiency, time and memory over ranks. Pure.
#pragma once

#include <span>
#include <string>

#include "registry/scaling/parallel_step.h"

namespace kiln {

// An SVG with a line for each kind of parallelism. A step that does not fit the memory is in the panel of the
// memory only.
std::string scaling_picture(const Network& network, const TrainingTerms& terms,
                            std::span<const ParallelOutlook> outlooks);

}  // namespace kiln
