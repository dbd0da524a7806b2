// The lockfile of a night: moved as far as the site's policy lets it, and newer versions that the
// site may take.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/night/night.h"

namespace kiln {

// Asks the outside, writes the lockfile that --lockfile names or that lies beside the matrix when something
// of it has moved, and says in `news` what became of it. Without a lockfile nothing is pinned, and upstream
// alone is asked. What cannot be asked is among the problems. Returns what has moved. Throws
// Error(interrupted), Error(store), and as Invocation::plan().
std::vector<LockChange> update_lock_for_night(const std::string& matrix, LockNews& news,
                                              Invocation& invocation);

}  // namespace kiln
