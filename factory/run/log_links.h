// Logs under names that a person finds. They are kept by key, since images share steps; beside them stands a
// folder for each cell, with a link for each of its steps and tests, in order:
//
//   logs/679acb….log
//   logs/pytorch-2.6.0-distro-x86_64-debian_trixie/01-base-debian.log -> ../679acb….log
//                                                  03-test-framework-pytorch.log, image.log
#pragma once

#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/state/state.h"

namespace kiln {

// The folder's name: the cell's id as one file name.
std::string log_folder_name(const std::string& cell);

// The links of these images; those of earlier plans go. A link that cannot be made is no error.
void link_logs(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state);

}  // namespace kiln
