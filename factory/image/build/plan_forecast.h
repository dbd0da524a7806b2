// The forecast of a build, from its plan and from the history of steps.
#pragma once

#include <string>
#include <vector>

#include "image/build/forecast.h"
#include "image/build/open_steps.h"
#include "image/state/state_names.h"
#include "image/state/step_history.h"
#include "plan/build_plan.h"

namespace kiln {

// Of the steps and tests of these images without a record yet, and of the images themselves; not of those
// that only `closed` ones stand on.
Forecast forecast_of(const BuildPlan& plan, const ImageNumbers& images, StateNames& before,
                     const std::vector<PastRun>& history, int jobs, const ClosedSteps& closed = {});

// The packaging of an image, as the history knows it.
PastRun packaging_of(const std::string& key, const std::string& repository);

}  // namespace kiln
