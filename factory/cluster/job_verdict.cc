#include "factory/cluster/job_verdict.h"

#include <fmt/format.h>

#include <csignal>

namespace kiln {
namespace {

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
  // Told to end by nobody that Slurm knows of: the machine goes down, or somebody is on it.
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

JobVerdict verdict_of(const JobTraces& traces) {
  const JobFate fate = traces.job ? fate_of(traces.job->state) : JobFate::over;
  const std::string text =
      traces.job ? fmt::format("{}: {}", job_text(traces), state_text(*traces.job)) : job_text(traces);
  if (traces.is_done) return {Next::done, ""};
  if (fate == JobFate::no_memory || traces.had_no_memory)
    return {Next::more_memory, traces.had_no_memory && traces.failure
                                   ? fmt::format("{}: {}", job_text(traces), traces.failure->what)
                                   : text};
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
