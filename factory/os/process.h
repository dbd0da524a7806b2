// One command as a child process, with its limits on a clock of the caller's choice: a test need not wait.
#pragma once

#include "factory/base/effects.h"

namespace kiln {

// The work of RealCommandRunner, which passes the real clock.
CommandResult run_process(const Command& command, const Clock& clock);

}  // namespace kiln
