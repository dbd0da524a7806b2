// The builds of a night: everything at once, or with a budget in turn.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"

namespace kiln {

struct NightBuild {
  std::map<std::string, std::vector<std::string>> why;  // each cell had to be built; by id
  std::set<std::string> no_time;                        // ids of cells that the budget was not for
  BuildReport report;
};

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
