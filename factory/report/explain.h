// Why an image has to be built. Pure.
#pragma once

#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace kiln {

// One line a changed input: "library/openblas: distro.sh changed (1a2b… → 3c4d…)". `before`: the same cell in
// the plan of the last build. Empty when nothing changed.
std::vector<std::string> explain_image(const ImageSpec& now, const ImageSpec& before);
// The same where the last plan does not have the cell, or there is no last plan.
std::vector<std::string> explain_new_image(bool last_plan);

}  // namespace kiln
