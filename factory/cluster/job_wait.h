// Waits for the end of one job: by the files that it writes, and by what Slurm says of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "factory/cluster/controller.h"
#include "factory/cluster/job_files.h"

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

  // Returns when the job is over, as far as anybody can know, and its files had time to arrive. Throws
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
  bool is_requeued_ = false;  // what it wrote is of its time before
  double over_since_ = -1;    // of the monotonic clock; below 0: it is not over
  bool was_too_late_ = false;
  std::string told_;
};

}  // namespace kiln
