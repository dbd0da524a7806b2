// What a build knows of its steps beside their events.
#pragma once

#include "factory/run/build.h"

namespace kiln {

// The targets of these images' steps, tests and packaging, and the logs of the state folder. REQUIRES: the
// state of `setup` outlives it.
ProgressSource progress_source(const ImageNumbers& images, const BuildSetup& setup);

}  // namespace kiln
