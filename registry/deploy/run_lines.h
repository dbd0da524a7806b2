// The commands of a script that start the application in its container.
#pragma once

#include <string>
#include <vector>

#include "registry/deploy/deployment.h"

namespace kiln {

// Environment of the processes, and the arrays `container` and `step`.
std::vector<std::string> container_lines(const Deployment& deployment);
// Starts the application, by its launcher where it is parallel.
std::vector<std::string> run_lines(const Deployment& deployment);
// Fetches the source, and builds it in the container. REQUIRES: the job has a build.
std::vector<std::string> build_lines(const Deployment& deployment);

}  // namespace kiln
