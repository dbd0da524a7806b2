// How `kiln step` says how far it is: to `kiln build` through the FIFO of its plan, or, in a job of Slurm,
// on its standard output, which whoever waits for the job hands on.
#pragma once

#include "factory/cli/invocation.h"

namespace kiln {

// That it starts, goes on or waits. No reader (another machine, no build running) is fine.
void announce(const Invocation& invocation, const StepEvent& event);

// The end of a step as `kiln build` and a person read it.
void report(const StepEvent& event);

}  // namespace kiln
