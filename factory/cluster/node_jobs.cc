#include "factory/cluster/node_jobs.h"

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

std::string title_of(const BenchRound& round) {
  return fmt::format("round {} of {}", round.front().round + 1, round.front().workload.name);
}

// One job, from its task in a file to its answer in another.
class NodeJobRun {
 public:
  NodeJobRun(std::string key, std::string title, std::chrono::seconds time, const NodeFiles& folder,
             const NodeJobs& terms)
      : key_(std::move(key)), title_(std::move(title)), time_(time), folder_(folder), terms_(terms) {}

  // Runs it unless it is answered: nullopt; why it failed where Slurm or the program ended it.
  std::optional<std::string> run() {
    FileSystem& files = terms_.setup.files;
    RecordWriter(terms_.setup.state, files).forget_failure(key_);
    files.remove_all(folder_.refusal(key_));
    JobSetup setup = terms_.setup;
    setup.tell = [this](const StepEvent& event) { tell(event.what); };
    const JobOutcome outcome = run_job(task(), setup);
    if (outcome.end == JobOutcome::End::failed) {
      refuse_other_failures(outcome.what);
      return outcome.what;
    }
    if (const auto refusal = files.read(folder_.refusal(key_)))
      throw Error(ExitCode::usage, *refusal, "--partition names a partition whose nodes are alike");
    return std::nullopt;
  }

  Error no_answer() const {
    return {ExitCode::images_failed, fmt::format("the job of {} left no answer", title_)};
  }

 private:
  JobTask task() const {
    JobTask task;
    task.key = key_;
    task.title = title_;
    task.like.key = key_;
    task.like.component = terms_.component;
    task.partition = terms_.partition;
    task.command = terms_.command;
    task.command.push_back(folder_.task(key_).string());
    task.is_done = [this] {
      const FileSystem& files = terms_.setup.files;
      return files.exists(folder_.answer(key_)) || files.exists(folder_.refusal(key_));
    };
    task.whole_node = true;
    task.time = time_;
    return task;
  }

  // The words change while a job waits, and each is told once.
  void tell(const std::string& what) {
    if (what.empty() || what == told_) return;
    told_ = what;
    terms_.tell(fmt::format("{}: {}", title_, what));
  }

  void refuse_other_failures(const std::string& what) const {
    const auto failure = RecordReader(terms_.setup.state, terms_.setup.files).failure(key_);
    if (failure && failure->failure != FailureClass::build)
      throw Error(failure->exit_code, fmt::format("the job of {} failed: {}", title_, what), failure->hint);
  }

  std::string key_, title_;
  std::chrono::seconds time_;
  const NodeFiles& folder_;
  const NodeJobs& terms_;
  std::string told_;
};

std::vector<TuningAnswer> run_trial_job(const TuningJob& job, const TrialFiles& files,
                                        const NodeJobs& terms) {
  const std::string key = files.key_of(job);
  files.write(key, job);
  NodeJobRun run(key, title_of(job), time_of(job), files, terms);
  if (const auto why = run.run()) {
    TuningAnswer answer;
    answer.end = TrialEnd::failed;
    answer.why = *why;
    return {answer};
  }
  auto answers = files.answers(key);
  if (!answers) throw run.no_answer();
  // What failed may end the tuning; then the next one starts it again.
  const bool failed =
      std::ranges::any_of(*answers, [](const TuningAnswer& one) { return one.end != TrialEnd::complete; });
  if (failed) terms.setup.files.remove_all(files.answer(key));
  return *std::move(answers);
}

std::vector<BenchAnswer> run_round_job(const BenchRound& round, int repeats, const RoundFiles& files,
                                       const NodeJobs& terms) {
  const std::string key = files.key_of(round);
  files.write(key, round, repeats);
  NodeJobRun run(key, title_of(round), std::chrono::seconds(0), files, terms);
  if (const auto why = run.run())
    throw Error(ExitCode::images_failed, fmt::format("the job of {} failed: {}", title_of(round), *why),
                "the same command continues with the remaining rounds");
  auto answers = files.answers(key, round);
  if (!answers) throw run.no_answer();
  // An image that failed loses its runs; the same command starts it again.
  if (std::ranges::any_of(*answers, [](const BenchAnswer& one) { return one.runs.empty(); }))
    terms.setup.files.remove_all(files.answer(key));
  return *std::move(answers);
}

}  // namespace

std::vector<std::vector<TuningAnswer>> run_trial_jobs(const std::vector<TuningJob>& jobs,
                                                      const TrialFiles& files, const NodeJobs& terms) {
  std::vector<std::vector<TuningAnswer>> answers(jobs.size());
  in_parallel(jobs.size(), terms.at_once,
              [&](std::size_t number) { answers[number] = run_trial_job(jobs[number], files, terms); });
  return answers;
}

std::vector<std::vector<BenchAnswer>> run_round_jobs(const std::vector<BenchRound>& rounds, int repeats,
                                                     const RoundFiles& files, const NodeJobs& terms) {
  std::vector<std::vector<BenchAnswer>> answers(rounds.size());
  in_parallel(rounds.size(), terms.at_once, [&](std::size_t number) {
    answers[number] = run_round_job(rounds[number], repeats, files, terms);
  });
  return answers;
}

}  // namespace kiln
