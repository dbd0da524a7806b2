// Which images of a set each figure shows, beside which, and against which. Empty where it has nothing to
// compare.
#pragma once

#include <vector>

#include "factory/figures/panel.h"

namespace kiln {

// Stock images without a graph compiler, a framework and version after the other; later versions against the
// first one of their framework. A version that was measured, but not so, is a gap.
std::vector<PanelGroup> framework_groups(const MeasuredSet& set);

// A group for each version with other builds than stock, all without a graph compiler: against the stock
// image, and where that was not measured, which is a gap, against the first of the others.
std::vector<PanelGroup> method_groups(const MeasuredSet& set);

// A group for each build of a version that was measured with a graph compiler: against itself without one, or
// a gap.
std::vector<PanelGroup> compiler_groups(const MeasuredSet& set);

// A group for each image that was measured with several numbers of ranks: against the fewest.
std::vector<PanelGroup> scaling_groups(const MeasuredSet& set);

// All images, one group.
std::vector<PanelGroup> image_groups(const MeasuredSet& set);

}  // namespace kiln
