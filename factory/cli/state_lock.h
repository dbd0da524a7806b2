// The lock of the state folder, as commands that write there take it, and --wait.
#pragma once

#include "cli/invocation.h"
#include "image/state/lock.h"

namespace kiln {

// --wait, for commands that take the lock.
void add_wait_option(CLI::App& command, GlobalOptions& options);

// One writer a state folder. `purpose`: "kiln build of demo". Throws Error(locked) unless --wait is given;
// then whom it waits for goes to stderr, once. What is written from now on is as open as the folder is.
StateLock lock_state(const Invocation& invocation, const std::string& purpose);

}  // namespace kiln
