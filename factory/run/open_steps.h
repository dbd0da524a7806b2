// How far down a build has to go. A step that is done needs nothing of those below it but their layers, so
// where one was fetched from another builder, or its records below were collected, they need not be run.
#pragma once

#include <set>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/state/state.h"
#include "factory/state/state_names.h"

namespace kiln {

// Steps that are done, lack a record below them, and have all layers of their chain.
using ClosedSteps = std::set<StepTable::Number>;
ClosedSteps closed_steps(const BuildPlan& plan, const ImageNumbers& images, StateNames& names,
                         const StatePaths& state, const FileSystem& files);

// The steps and tests of these images, without those that only closed ones stand on; in their order.
std::vector<StepTable::Number> open_steps(const BuildPlan& plan, const ImageNumbers& images,
                                          const ClosedSteps& closed);

}  // namespace kiln
