// The end of a step's job: the wait for it, by its files and by Slurm's answers, and the verdict.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "factory/cluster/controller.h"
#include "factory/cluster/job_files.h"
#include "factory/cluster/queued_job.h"
#include "factory/state/record_store.h"

namespace kiln {

struct JobWaitSetup {
  std::string id;
  std::int64_t begun = 0;           // Unix seconds: handed over, or taken over
  std::int64_t no_start_after = 0;  // the same; one that still waits then is cancelled; 0: never
  const Clock& clock;
  std::function<bool()> is_done;  // the step's record is there
  std::function<void(std::chrono::milliseconds)> wait;
  std::function<void(const std::string&)> tell_waits;
  std::function<void(const std::string&)> tell_runs;
};

class JobWait {
 public:
  // REQUIRES: all outlive this.
  JobWait(const JobWaitSetup& setup, const JobFiles& files, QueueWatch& queue, SlurmController& controller)
      : setup_(setup), files_(files), queue_(queue), controller_(controller) {}

  // Returns when all known signs say that the job is over, and its files had time to arrive. Throws
  // Error(network) when patience with the controller ends, Error(interrupted).
  void run(JobOutput& output);
  // As Slurm listed it last; nullopt: Slurm knows it no more, or did not answer.
  const std::optional<QueuedJob>& job() const { return job_; }
  bool was_too_late() const { return was_too_late_; }

 private:
  bool is_over(bool wrote);
  bool has_settled();
  bool has_ended(bool wrote);
  void find(const QueueView& view);
  void tell_state();
  void end_what_comes_too_late();

  const JobWaitSetup& setup_;
  const JobFiles& files_;
  QueueWatch& queue_;
  SlurmController& controller_;
  std::optional<QueuedJob> job_;
  int times_missing_ = 0;
  std::int64_t missed_ = 0;   // Unix seconds: the last view without it
  std::int64_t wrote_ = 0;    // its status was seen; 0: not yet
  bool is_requeued_ = false;  // its files are from the run before
  double over_since_ = -1;    // of the monotonic clock; below 0: it is not over
  bool was_too_late_ = false;
  std::string told_;
};

// The verdict on a step's job, from its files and from Slurm's answers. Pure.
//
//   job ended ── record, or failure record of the step ──▶ that counts
//            ├── machine lost, more memory or time needed ──▶ another job
//            └── anything else, no tries left ──▶ failure record
//
// The step's own record comes first: a job that was cancelled while kiln kept its files has done its work.
// Then Slurm's verdict, if Slurm ended the job: the message of a killed step is not the cause of the failure.
// Then the record of the step's failure, and the exit status that the job's script wrote. Slurm forgets jobs
// (MinJobAge) and need not have an accounting database, so any of it may be missing.

// The evidence when the job is over.
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
