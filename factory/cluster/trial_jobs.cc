#include "factory/cluster/trial_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/in_parallel.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// A job's own start, and that of the engine on a machine that has not run the image before.
constexpr double kStartOfJob = 600;  // seconds

// Zero: one of them has no limit, so that the partition says how long a job may take.
std::chrono::seconds time_of(const TuningJob& job) {
  double seconds = kStartOfJob;
  for (const TuningStart& start : job) {
    if (start.patience <= 0) return std::chrono::seconds(0);
    seconds += start.patience;
  }
  return std::chrono::seconds(static_cast<std::int64_t>(seconds));
}

std::string title_of(const TuningJob& job) {
  const TuningStart& first = job.front();
  if (job.size() == 1) return "trial " + trial_name(first.setting);
  return fmt::format("round {} of the comparison", first.place.round + 1);
}

class TrialJobRun {
 public:
  TrialJobRun(const TuningJob& job, const TrialJobs& terms)
      : job_(job), terms_(terms), key_(terms.files.key_of(job)), title_(title_of(job)) {}

  std::vector<TuningAnswer> run() {
    FileSystem& files = terms_.setup.files;
    RecordWriter(terms_.setup.state, files).forget_failure(key_);
    files.remove_all(terms_.files.refusal(key_));
    terms_.files.write(key_, job_);
    JobSetup setup = terms_.setup;
    setup.tell = [this](const StepEvent& event) { tell(event.what); };
    const JobOutcome outcome = run_job(task(), setup);
    if (outcome.end == JobOutcome::End::failed) return failed(outcome.what);
    if (const auto refusal = files.read(terms_.files.refusal(key_)))
      throw Error(ExitCode::usage, *refusal, "--partition names a partition whose nodes are alike");
    auto answers = terms_.files.answers(key_);
    if (!answers) throw Error(ExitCode::images_failed, fmt::format("the job of {} left no answer", title_));
    // What failed may end the tuning; then the next one starts it again.
    const bool failed =
        std::ranges::any_of(*answers, [](const TuningAnswer& one) { return one.end != TrialEnd::complete; });
    if (failed) files.remove_all(terms_.files.answer(key_));
    return *std::move(answers);
  }

 private:
  JobTask task() const {
    JobTask task;
    task.key = key_;
    task.title = title_;
    task.like.key = key_;
    task.like.component = "tune";
    task.partition = terms_.partition;
    task.command = terms_.command;
    task.command.push_back(terms_.files.starts(key_).string());
    task.is_done = [this] {
      const FileSystem& files = terms_.setup.files;
      return files.exists(terms_.files.answer(key_)) || files.exists(terms_.files.refusal(key_));
    };
    task.whole_node = true;
    task.time = time_of(job_);
    return task;
  }

  // The words change while a job waits, and each is told once.
  void tell(const std::string& what) {
    if (what.empty() || what == told_) return;
    told_ = what;
    terms_.tell(fmt::format("{}: {}", title_, what));
  }

  std::vector<TuningAnswer> failed(const std::string& what) const {
    const auto failure = RecordReader(terms_.setup.state, terms_.setup.files).failure(key_);
    if (failure && failure->failure != FailureClass::build)
      throw Error(failure->exit_code, fmt::format("the job of {} failed: {}", title_, what), failure->hint);
    TuningAnswer answer;
    answer.end = TrialEnd::failed;
    answer.why = what;
    return {answer};
  }

  const TuningJob& job_;
  const TrialJobs& terms_;
  std::string key_, title_, told_;
};

}  // namespace

std::vector<std::vector<TuningAnswer>> run_trial_jobs(const std::vector<TuningJob>& jobs,
                                                      const TrialJobs& terms) {
  std::vector<std::vector<TuningAnswer>> answers(jobs.size());
  in_parallel(jobs.size(), terms.at_once,
              [&](std::size_t number) { answers[number] = TrialJobRun(jobs[number], terms).run(); });
  return answers;
}

}  // namespace kiln
