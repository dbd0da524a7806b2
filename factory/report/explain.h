// Why an image has to be built. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/recipe/lockfile.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// One line a changed input: "library/openblas: distro.sh changed (1a2b… → 3c4d…)". `before`: the same cell in
// the plan of the last build. Empty when nothing changed. `moved`: what differs between the lockfiles of the
// two plans (compare_locks), where somebody knows: changed flags then say which tables they come from.
std::vector<std::string> explain_image(const ImageSpec& now, const ImageSpec& before,
                                       const std::vector<LockChange>& moved = {});
// The same where the last plan does not have the cell, or there is no last plan.
std::vector<std::string> explain_new_image(bool last_plan);

}  // namespace kiln
