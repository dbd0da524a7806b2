// One command as a job by itself, and what it says.
#pragma once

#include <string>
#include <vector>

#include "factory/cluster/queue_view.h"

namespace kiln {

struct NodeAnswer {
  int status = 0;  // of the command; of sbatch where there was no job
  std::string output;
};

// With the same options as jobs of steps have. `folder`: on a file system that the node shares. Throws
// Error(images_failed) when it is ended before it answers.
NodeAnswer answer_of_node(const std::vector<std::string>& command, const SlurmSite& site,
                          const SlurmPlace& place, const fs::path& folder, FileSystem& files,
                          const SlurmPrograms& programs);

}  // namespace kiln
