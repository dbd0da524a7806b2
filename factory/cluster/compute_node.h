// Describes a compute node: for a command that runs as a job, and in the log of a step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cluster/controller.h"

namespace kiln {

struct NodeAnswer {
  int status = 0;  // of the command; of sbatch where there was no job
  std::string output;
};

// With the same options as jobs of steps have. `folder`: on a file system that the node shares. Throws
// Error(images_failed) when it is ended before it answers.
NodeAnswer answer_of_node(const std::vector<std::string>& command, const SlurmSite& site,
                          const SlurmPartition& partition, const fs::path& folder, FileSystem& files,
                          const SlurmPrograms& programs);

// The machine of a job, for the log of its step: the facts that administrators of the cluster look for first.

// Comment lines: node, job, partition and what the job was given; kernel and distribution; the main lines of
// lscpu(1); `ulimit -a` of sh(1). Missing items are left out. `environment`: SLURM_… as sbatch(1) names them.
std::string machine_text(const std::map<std::string, std::string>& environment, CommandRunner& runner,
                         const FileSystem& files);

// Of the output of lscpu: the processor, how many there are and how they hang together, caches left out.
std::string main_lines_of_lscpu(const std::string& output);

}  // namespace kiln
