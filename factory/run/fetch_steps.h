// Before a run of steps: fetches those that other builders have run, the uppermost first. If the last step of
// an image is available, kiln looks neither for the steps below it nor for its build stages. After the run:
// shares the steps made here that could not be shared earlier.
#pragma once

#include "factory/run/build.h"
#include "factory/share/shared_steps.h"

namespace kiln {

// Of the steps and tests that these images need and that have no record, several at a time. Steps that are
// missing or not trusted remain to be run. Throws Error(input) for an invalid key in the site file, and
// Error(interrupted). REQUIRES: the plan's lock is held, or the state's alone.
void fetch_steps(const BuildSetup& setup, const ImageNumbers& images, int jobs, Progress& progress,
                 BuildReport& report);

// Shares the steps of these images that were made here and are missing there.
void share_steps(const BuildSetup& setup, const ImageNumbers& images, Progress& progress);

// How a step is asked for.
SharedSteps::Wanted wanted_of(const Step& step, const Site& site);

}  // namespace kiln
