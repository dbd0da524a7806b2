// A step as a job of Slurm: submitted, or taken over from a run that was killed; waited for; judged; and
// submitted again where that helps (job_end.h). Never is a step in two jobs that run at once:
//
//  - a job bears the step's key in its comment, and is looked for before another is submitted;
//  - jobs of one step have one name and --dependency=singleton, so that one whose submission was not seen
//    succeed waits for the other, and then finds that the step is done;
//  - the process that runs the step holds its claim (state/claim.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/cluster/controller.h"
#include "factory/cluster/job_end.h"
#include "factory/run/progress.h"
#include "factory/run/step.h"
#include "factory/state/step_history.h"

namespace kiln {

// The task of a job.
struct JobTask {
  std::string key;  // of the step, or of the image that is packaged
  std::string title;
  PastRun like;  // as the history knows it
  SlurmPartition partition;
  std::vector<std::string> command;  // run by the job
  std::function<bool()> is_done{};   // the record is there
  bool whole_node = false;           // it measures, so Slurm puts no other job on its node
  std::chrono::seconds time{0};      // that it needs, of a whole node; 0: as the partition says
};

struct JobSetup {
  const Site& site;  // with `launcher.slurm`
  const StatePaths& state;
  FileSystem& files;
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string>
      environment;                  // kiln's: that of the job, without the variables of another job
  std::string run;                  // of kiln
  std::int64_t no_start_after = 0;  // Unix seconds; 0: no end
  std::function<void(const StepEvent&)> tell;  // of the step and of its job, as they come
  std::function<void(std::chrono::milliseconds)> wait = wait_unless_interrupted;
};

struct JobOutcome {
  enum class End { done, failed, too_late } end = End::done;
  std::string what;               // failed
  std::optional<StepEvent> said;  // the step's own last event
  bool ran = false;               // in a job; false: it was done before
};

// Leaves a record (of the step, in the job) or a failure record. Throws Error(interrupted) when kiln is told
// to end, after it has cancelled its jobs and they have ended.
JobOutcome run_job(const JobTask& task, const JobSetup& setup);

}  // namespace kiln
