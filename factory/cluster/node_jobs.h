// Jobs of Slurm that measure, each with a node to itself: what they are given and what they answer is in
// files (run/node_files.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/cluster/job_run.h"
#include "factory/run/bench_rounds.h"
#include "factory/run/trial_files.h"

namespace kiln {

struct NodeJobs {
  const JobSetup& setup;
  SlurmPartition partition;
  std::string component;             // for the history of steps: "tune", "bench"
  std::vector<std::string> command;  // of a job, before the name of its file: `kiln tune … --in-job`
  std::size_t at_once = 1;
  std::function<void(const std::string&)> tell;  // a line for people; called by several threads
};

// Answers of all jobs. A job that was answered before is not run again; one that a killed kiln left is taken
// over. A job that Slurm ends for its memory or its time has failed. Throws as run_job(); Error(usage) where
// a node is of another kind than the tuning's, Error(images_failed) where a job ends without an answer.
std::vector<std::vector<TuningAnswer>> run_trial_jobs(const std::vector<TuningJob>& jobs,
                                                      const TrialFiles& files, const NodeJobs& terms);

// The same for rounds of a comparison; but a round that Slurm ends is an Error(images_failed).
std::vector<std::vector<BenchAnswer>> run_round_jobs(const std::vector<BenchRound>& rounds, int repeats,
                                                     const RoundFiles& files, const NodeJobs& terms);

}  // namespace kiln
