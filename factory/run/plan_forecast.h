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

// What a build of these images takes, `jobs` steps at a time. nullopt where all of them are built, and where
// fewer than half of their steps were ever run.
struct ExpectedBuild {
  std::size_t steps = 0;  // tests and packaging included
  int jobs = 1;
  TimeLeft time;
};
std::optional<ExpectedBuild> expected_build(const BuildPlan& plan, const ImageNumbers& images,
                                            StateNames& names, const StatePaths& state,
                                            const FileSystem& files, int jobs);
// "expected: about 12 min, give or take 3 min, for 14 steps, 2 at a time".
std::string text_of(const ExpectedBuild& expected);

// The packaging of an image, as the history knows it.
PastRun packaging_of(const std::string& key, const std::string& repository);

}  // namespace kiln
