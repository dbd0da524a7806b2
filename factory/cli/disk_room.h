// Whether the disk has room for a build, said before it begins.
#pragma once

#include "factory/cli/invocation.h"
#include "factory/cli/select_cells.h"
#include "factory/state/cell_status.h"

namespace kiln {

// A warning on stderr when what these images lack needs more than is free, as far as their kinds are known.
// Throws Error(store) when not even the smallest of them would fit.
void look_for_room(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                   const Invocation& invocation);

}  // namespace kiln
