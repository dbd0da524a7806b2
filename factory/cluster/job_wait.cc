#include "factory/cluster/job_wait.h"

#include <fmt/format.h>

#include <utility>

#include "factory/cluster/queued_job.h"

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr double kSettles = 60;  // seconds until files of another machine are seen here: NFS's acdirmax

}  // namespace

// Files of another machine may come later than Slurm's word that it is over.
bool JobWait::has_settled() {
  const double now = setup_.clock.monotonic_seconds();
  if (over_since_ < 0) over_since_ = now;
  return now - over_since_ >= kSettles;
}

void JobWait::find(const QueueView& view) {
  for (const QueuedJob& job : view.jobs)
    if (job.id == setup_.id) {
      job_ = job;
      times_missing_ = 0;
      return;
    }
  if (view.asked <= missed_) return;
  missed_ = view.asked;
  if (++times_missing_ >= 2) job_.reset();
}

bool JobWait::is_over(bool wrote) {
  const QueueView view = queue_.look(wrote ? wrote_ : 0);
  if (view.silent_for > 0) {
    if (wrote && !is_requeued_) return has_settled();
    controller_.check_patience(view);
    setup_.tell_waits(fmt::format("job {}; the Slurm controller does not answer", setup_.id));
    told_.clear();
    return false;
  }
  if (view.asked <= setup_.begun) return false;
  find(view);
  if (times_missing_ == 1) return false;
  if (!job_) return wrote || has_settled();
  if (fate_of(job_->state) != JobFate::alive) return has_ended(wrote);
  is_requeued_ = wrote && view.asked > wrote_ && is_pending(job_->state);
  tell_state();
  if (is_held_for_launch(job_->state, job_->reason) || asks_too_much_time(job_->state, job_->reason))
    return controller_.cancel({setup_.id});
  end_what_comes_too_late();
  return false;
}

// What is killed writes nothing more; but why a machine did not start it may be seen later.
bool JobWait::has_ended(bool wrote) {
  const JobFate fate = fate_of(job_->state);
  const bool has_begun = job_->nodes.empty() || files_.has_output();
  return wrote || (fate != JobFate::over && (fate != JobFate::ended || has_begun)) || has_settled();
}

void JobWait::run(JobOutput& output) {
  for (;;) {
    output.read();
    const auto status = files_.status();
    const bool wrote = status && status->id == setup_.id;
    if (!wrote) is_requeued_ = false;
    if (wrote && wrote_ == 0) wrote_ = setup_.clock.unix_seconds();
    if (wrote && setup_.is_done()) break;
    const bool awaits_record = wrote && status->status == 0;
    if (awaits_record ? has_settled() : is_over(wrote)) break;
    setup_.wait(kTick);
  }
  output.read();
}

void JobWait::end_what_comes_too_late() {
  if (setup_.no_start_after == 0 || !is_pending(job_->state)) return;
  if (setup_.clock.unix_seconds() < setup_.no_start_after) return;
  controller_.cancel({setup_.id});
  was_too_late_ = true;
}

// A word for each change.
void JobWait::tell_state() {
  std::string text = fmt::format("job {} {}", setup_.id, job_->state);
  if (is_pending(job_->state)) text += fmt::format(" in {}: {}", job_->partition, job_->reason);
  if (std::exchange(told_, text) == text) return;
  if (job_->state == "RUNNING")
    setup_.tell_runs(fmt::format("job {} on {}", setup_.id, job_->nodes));
  else
    setup_.tell_waits(text);
}

}  // namespace kiln
