#include "factory/cluster/job_end.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr double kSettles = 60;  // seconds until files of another machine are seen here: NFS's acdirmax

using Next = JobVerdict::Next;

std::string job_text(const JobTraces& traces) {
  std::string host = traces.job ? traces.job->nodes : "";
  if (host.empty() && traces.status) host = traces.status->host;
  return fmt::format("job {}{}", traces.id, host.empty() ? "" : " on " + host);
}

// The state and, where it says more, the reason.
std::string state_text(const QueuedJob& job) {
  const bool says_more = !job.reason.empty() && job.reason != "None" && job.reason != "NonZeroExitCode";
  return says_more ? fmt::format("{} ({})", job.state, job.reason) : job.state;
}

JobVerdict by_status(const JobTraces& traces) {
  const int status = traces.status->status;
  if (status == static_cast<int>(ExitCode::timeout)) return {Next::too_late, job_text(traces)};
  if (status == 0)
    return {Next::give_up,
            job_text(traces) + ": it ended well, and its record is not here: is the state folder shared?",
            ExitCode::store};
  std::string what = fmt::format("{}: exit status {}", job_text(traces), status);
  if (status > 128 && status != static_cast<int>(ExitCode::interrupted))
    what = fmt::format("{}: killed by signal {}", job_text(traces), status - 128);
  // Slurm names no user who ended the job: the machine is shutting down, or a user on it ended the step.
  if (status == static_cast<int>(ExitCode::interrupted) || status == 128 + SIGTERM)
    return {Next::again, what};
  if (!traces.last_words.empty()) what += ": " + traces.last_words;
  return {Next::give_up, what, status < 128 ? static_cast<ExitCode>(status) : ExitCode::images_failed};
}

// A machine had it and never started its script. FAILED (JobLaunchFailure): it could not write the job's
// output, say. CANCELLED, as by somebody: its prolog failed, the job may not be requeued, and slurmd wrote
// these words (src/slurmd/slurmd/req.c). Held: its prolog failed, and it may be requeued.
bool was_not_started(const JobTraces& traces) {
  if (!traces.job) return false;
  const QueuedJob& job = *traces.job;
  if (is_held_for_launch(job.state, job.reason)) return true;  // whatever it left before it was requeued
  if (traces.status) return false;
  return job.reason == "JobLaunchFailure" ||
         (job.state == "CANCELLED" && traces.last_words.starts_with("Error running slurm prolog"));
}

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

JobVerdict verdict_of(const JobTraces& traces) {
  const JobFate fate = traces.job ? fate_of(traces.job->state) : JobFate::over;
  const std::string text =
      traces.job ? fmt::format("{}: {}", job_text(traces), state_text(*traces.job)) : job_text(traces);
  if (traces.is_done) return {Next::done, ""};
  if (fate == JobFate::no_memory || traces.had_no_memory)
    return {Next::more_memory, traces.had_no_memory && traces.failure
                                   ? fmt::format("{}: {}", job_text(traces), traces.failure->what)
                                   : text};
  if (traces.job && asks_too_much_time(traces.job->state, traces.job->reason))
    return {Next::give_up, text + ": it asks for more time than a job may have there"};
  if (was_not_started(traces)) return {Next::again, text + ": the machine did not start it"};
  switch (fate) {
    case JobFate::no_time:
      return {Next::more_time, text};
    case JobFate::lost_machine:
      return {Next::again, text};
    case JobFate::ended:
      return {Next::give_up, text};
    default:
      break;
  }
  if (traces.failure) return {Next::failed, ""};
  if (traces.status) return by_status(traces);
  if (!traces.job) return {Next::again, text + ": Slurm knows it no more, and it left nothing"};
  const std::string words = traces.last_words.empty() ? "" : ": " + traces.last_words;
  return {Next::give_up, text + words};
}

}  // namespace kiln
