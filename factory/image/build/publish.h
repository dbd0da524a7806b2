// publish: what is built becomes rows and tags of the index, in one numbered snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/effects.h"
#include "image/state/state.h"
#include "plan/build_plan.h"

namespace kiln {

struct Published {
  std::int64_t snapshot = 0;
  bool is_new = false;  // false: the current snapshot is already that
  std::size_t images = 0;
  std::size_t not_built = 0;  // these keep what they had, marked stale
};

// Of these images those that are built, and the folder of SIF files after them. Throws
// Error(no_match) when none is built. REQUIRES: the state's lock is held.
Published publish_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files, const Clock& clock);

}  // namespace kiln
