// A shell where a step runs, to look into what went wrong. Nothing that is done there is kept.
#pragma once

#include <map>
#include <string>

#include "factory/run/step.h"

namespace kiln {

struct ShellStart {
  Step step;
  // What the step left, and not what it started from: for steps that run no script in a container as well.
  bool after = false;
  std::map<std::string, std::string> environment = {};  // `after`: the image's
};

// With what the step's script has: what it builds on, files, parameters, secrets, the site's configuration,
// the current folder, and the network unless it is a test. The shell has our input, output and terminal;
// without a terminal its status is in the result. Throws Error(usage) when what it would stand upon is not
// done.
CommandResult open_shell(const ShellStart& start, const StepSetup& setup);

}  // namespace kiln
