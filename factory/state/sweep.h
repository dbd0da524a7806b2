// What processes that were killed while they wrote left in a state folder.
#pragma once

#include "factory/base/effects.h"
#include "factory/state/state.h"

namespace kiln {

// Takes it away, unless a step runs: that may be one of another machine, which is writing. REQUIRES: the
// state's lock is held, alone, or shared and no other build is at work (other_builds()).
void sweep_state(const StatePaths& state, FileSystem& files);

}  // namespace kiln
