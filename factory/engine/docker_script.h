// A script in a container of Docker's. The daemon runs it, and nothing of it is a process of ours; kiln's
// limits watch one. So a process of ours stands for it, which waits and ends as the script does. Docker's own
// program would do the same (`docker start --attach`), and takes 30 ms to begin.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/engine/docker_daemon.h"

namespace kiln {

// Starts a container that was made, and waits for its end. `folder`: private. `command`: with all that the
// script's run says, for the command line that it is given. A limit that is hit ends the waiting; the
// container is the caller's to end then. Throws what DockerDaemon::call does, and Error(store) for what the
// daemon cannot do.
CommandResult run_in_docker(const DockerDaemon& daemon, const std::string& container, const fs::path& folder,
                            CommandRunner& runner,
                            const std::function<Command(std::vector<std::string>)>& command);

}  // namespace kiln
