// Where a job runs, for the log of its step: what people who know the cluster look for first.
#pragma once

#include <map>
#include <string>

#include "factory/base/effects.h"

namespace kiln {

// Set for `kiln step` in a job of ours: its key.
inline constexpr const char* kJob = "KILN_JOB";

// Comment lines: node, job, partition and what the job was given; kernel and distribution; the main lines of
// lscpu(1); `ulimit -a` of sh(1). What is not there is left out. `environment`: SLURM_… as sbatch(1) names
// them.
std::string machine_text(const std::map<std::string, std::string>& environment, CommandRunner& runner,
                         const FileSystem& files);

// Of the output of lscpu: the processor, how many there are and how they hang together, caches left out.
std::string main_lines_of_lscpu(const std::string& output);

}  // namespace kiln
