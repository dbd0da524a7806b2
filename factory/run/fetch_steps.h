// Before steps are run: those that other builders have run are fetched, the uppermost first, so that of an
// image whose last step is there nothing below it is looked for, and of its build stages nothing at all. And
// after it: what was made here and could not be given away when it was made.
#pragma once

#include "factory/run/build.h"
#include "factory/share/shared_steps.h"

namespace kiln {

// Of the steps and tests that these images need and that have no record, several at a time. What is not there
// or not believed is left to be run. Throws Error(input) for a key of the site file that is none,
// Error(interrupted). REQUIRES: the plan's lock is held, or the state's alone.
void fetch_steps(const BuildSetup& setup, const ImageNumbers& images, int jobs, Progress& progress,
                 BuildReport& report);

// Gives away what these images stand on, was made here and is not there.
void share_steps(const BuildSetup& setup, const ImageNumbers& images, Progress& progress);

// How a step is asked for.
SharedSteps::Wanted wanted_of(const Step& step, const Site& site);

}  // namespace kiln
