// The forecast of a build, from its plan and from the history of steps.
#pragma once

#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/run/forecast.h"
#include "factory/run/open_steps.h"
#include "factory/state/state_names.h"
#include "factory/state/step_history.h"

namespace kiln {

// Of the steps and tests of these images without a record yet, and of the images themselves; not of those
// that only `closed` ones stand on.
Forecast forecast_of(const BuildPlan& plan, const ImageNumbers& images, StateNames& before,
                     const std::vector<PastRun>& history, int jobs, const ClosedSteps& closed = {});

// The packaging of an image, as the history knows it.
PastRun packaging_of(const std::string& key, const std::string& repository);

}  // namespace kiln
