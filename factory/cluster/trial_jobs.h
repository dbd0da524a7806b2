// The starts of a tuning as jobs of Slurm, several at a time, each with a node to itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/cluster/job_run.h"
#include "factory/run/trial_files.h"

namespace kiln {

struct TrialJobs {
  const JobSetup& setup;
  SlurmPartition partition;
  const TrialFiles& files;
  // Of a job, before the name of its file: `kiln tune … --in-job`.
  std::vector<std::string> command;
  std::size_t at_once = 1;
  std::function<void(const std::string&)> tell;  // a line for people; called by several threads
};

// Answers of all jobs. A job that was answered before is not run again; one that a killed kiln left is taken
// over. What Slurm ends for its memory or its time has failed. Throws as run_job(); Error(usage) where a node
// is of another kind than the tuning's, Error(images_failed) where a job ends without an answer.
std::vector<std::vector<TuningAnswer>> run_trial_jobs(const std::vector<TuningJob>& jobs,
                                                      const TrialJobs& terms);

}  // namespace kiln
