// How a step's job ended, from what it left and from what Slurm says. Pure.
//
//   job ended ── record, or failure record of the step ──▶ that counts
//            ├── machine lost, more memory or time needed ──▶ another job
//            └── anything else, no tries left ──▶ failure record
//
// What the step itself recorded as done comes first: a job that was cancelled while its files were being put
// away has done its work. Then Slurm's word, where it ended the job: what a step says that was killed is no
// failure of its own. Then the record of the step's failure, and the exit status that the job's script wrote.
// Slurm forgets jobs (MinJobAge) and need not have an accounting database, so any of it may be missing.
#pragma once

#include <optional>
#include <string>

#include "factory/cluster/job_files.h"
#include "factory/cluster/queued_job.h"
#include "factory/state/record_store.h"

namespace kiln {

// What is there when the job is over.
struct JobTraces {
  std::string id;
  bool is_done = false;                  // the step's record
  std::optional<FailureRecord> failure;  // of this job
  bool had_no_memory = false;            // the step said so in the history
  std::optional<JobStatus> status;
  std::optional<QueuedJob> job;  // as Slurm lists it; nullopt: it knows no such job any more
  std::string last_words;        // JobFiles::last_words()
};

struct JobVerdict {
  enum class Next {
    done,
    failed,   // and the step's own record says why
    give_up,  // nothing says why but `what`
    again,    // as it was
    more_memory,
    more_time,
    too_late,  // it did not begin before its time was up (StepTerms::no_step_after)
  };
  Next next = Next::give_up;
  std::string what;                         // "job 17 on nid001: NODE_FAIL"
  ExitCode code = ExitCode::images_failed;  // of give_up
};

JobVerdict verdict_of(const JobTraces& traces);

}  // namespace kiln
