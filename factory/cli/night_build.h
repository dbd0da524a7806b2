// The builds of a night: everything at once, or with a budget in turn.
#pragma once

#include <vector>

#include "factory/app/night_parts.h"
#include "factory/cli/invocation.h"

namespace kiln {

struct NightTerms {
  int jobs = 0;                     // as BuildRun has it
  std::chrono::seconds budget{0};   // 0: no end
  std::vector<LockChange> moved{};  // in the lockfile, for explanations
};

// Looks at what is to be built, and builds it. What fails is in the report, and what was done before an error
// ended it in `night`. Throws as build_images() and look_for_room(). REQUIRES as build_images().
void build_for_night(const Catalogue& catalogue, const NightTerms& terms, const Site& site,
                     Invocation& invocation, NightBuild& night);

}  // namespace kiln
