#include "factory/run/tuning_run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/run/trial_files.h"

namespace kiln {

// factory/run/tuning_search.py, made by kiln_embed.
std::map<std::string_view, std::string_view> embedded_tuning_search();

namespace {

constexpr std::chrono::seconds kJournalPatience{10};
constexpr std::chrono::seconds kProposalLimit{120};

// The run of the metric that is tuned for.
BenchRun run_of_metric(std::vector<BenchRun> runs, const std::string& workload, const std::string& metric) {
  if (metric.empty() && runs.size() == 1) return std::move(runs.front());
  std::string known;
  for (BenchRun& run : runs) {
    if (!metric.empty() && run.workload == metric_name(workload, metric)) return std::move(run);
    known += (known.empty() ? "" : ", ") + run.workload;
  }
  throw Error(ExitCode::usage,
              fmt::format("the workload '{}' measures {}, and a tuning needs one of them", workload, known),
              "--workload names it");
}

std::string place_letter(TuningSide side) {
  return side == TuningSide::tuned ? "B" : side == TuningSide::rival ? "R" : "A";
}

Error search_failed(const CommandResult& result) {
  if (result.end == CommandEnd::interrupted) return Error(ExitCode::interrupted, "interrupted");
  return Error(ExitCode::internal, "the search failed: " + last_lines(result.tail, 5),
               "the same command goes on");
}

class RunningCourse {
 public:
  RunningCourse(const TuningCourse& course, TuningJournal journal)
      : course_(course), journal_(std::move(journal)) {}

  TuningJournal run() {
    for (NextTuningStep next = next_step(course_.terms, journal_); next.step != TuningStep::end;
         next = next_step(course_.terms, journal_)) {
      if (next.step == TuningStep::compare)
        compare(next);
      else
        search(next);
    }
    return std::move(journal_);
  }

 private:
  std::vector<TuningSetting> settings_of(const NextTuningStep& next) const {
    if (next.step == TuningStep::search) return course_.search.propose(course_.file.path(), next.count);
    return {next.step == TuningStep::try_rival ? rival_setting() : TuningSetting{}};
  }

  void search(const NextTuningStep& next) {
    const double begun = course_.clock.monotonic_seconds();
    const std::vector<TuningSetting> settings = settings_of(next);
    const double proposing = course_.clock.monotonic_seconds() - begun;
    std::vector<TuningJob> jobs;
    std::map<TuningSetting, std::size_t> job_of;  // of those that were not tried
    for (const TuningSetting& setting : settings)
      if (!journal_.trial_with(setting) && job_of.emplace(setting, jobs.size()).second)
        jobs.push_back({{setting, next.patience}});
    auto answers = jobs.empty() ? std::vector<std::vector<TuningAnswer>>{} : course_.start(jobs);
    const std::size_t first = journal_.trials.size();
    std::vector<Json> lines;
    for (const TuningSetting& setting : settings) {
      const auto known = journal_.trial_with(setting);
      TuningTrial trial =
          known ? trial_again(journal_, *known)
                : trial_of(setting, std::move(answers.at(job_of.at(setting)).front()), course_.maximises);
      if (lines.empty()) trial.seconds += proposing;
      lines.push_back(to_json(trial, journal_.trials.size()));
      journal_.trials.push_back(std::move(trial));
    }
    course_.file.add(lines);
    for (std::size_t number = first; number < journal_.trials.size(); ++number) {
      const TuningTrial& trial = journal_.trials[number];
      course_.tell(fmt::format("trial {}: {}: {}", number, trial_name(trial.setting), text_of(trial)));
    }
  }

  void compare(const NextTuningStep& next) {
    tell_comparison(next);
    const std::vector<TuningJob> jobs = comparison_jobs(journal_, next.turns);
    const auto answers = course_.start(jobs);
    for (std::size_t job = 0; job < jobs.size(); ++job)
      for (std::size_t i = 0; i < answers.at(job).size(); ++i)
        if (journal_.failed.empty()) add(jobs[job].at(i).place, answers[job][i]);
  }

  void tell_comparison(const NextTuningStep& next) const {
    const bool with_rival = journal_.compared_rival() != nullptr;
    const std::size_t done = journal_.turns.size();
    const std::string runs = next.turns.size() == 1
                                 ? fmt::format("run {}", done + 1)
                                 : fmt::format("runs {} to {}", done + 1, done + next.turns.size());
    course_.tell(fmt::format("comparison of the best trial with the default{}, {} of {}",
                             with_rival ? " and run_cpu" : "", runs,
                             (with_rival ? 3 : 2) * course_.terms.rounds));
  }

  void add(const TuningPlace& place, const TuningAnswer& answer) {
    if (answer.end == TrialEnd::complete) {
      journal_.turns.push_back(turn_of(place, answer));
      return course_.file.add({to_json(journal_.turns.back())});
    }
    if (place.side == TuningSide::standard)
      throw Error(answer.end == TrialEnd::stopped ? ExitCode::timeout : ExitCode::images_failed, answer.why);
    const bool without_rival = place.side == TuningSide::rival;
    if (without_rival && !journal_.rival_failed.empty()) return;
    (without_rival ? journal_.rival_failed : journal_.failed) = answer.why;
    course_.file.add({failed_comparison(place.side, answer.why)});
    if (without_rival) course_.tell("the comparison continues without run_cpu: " + answer.why);
  }

  const TuningCourse& course_;
  TuningJournal journal_;
};

}  // namespace

TuningFile::TuningFile(const TuningHead& head, const StatePaths& state, FileSystem& files)
    : head_(to_json(head).dump()), path_(state.tuning(Digest::of(head_).hex())), files_(files) {}

TuningJournal TuningFile::begin() {
  std::string text = files_.read(path_).value_or("");
  const std::size_t end = text.rfind('\n');
  if (end == text.npos)
    text = head_ + "\n";
  else
    text.resize(end + 1);
  files_.write(path_, text);
  return read_tuning_journal(text, path_.string());
}

void TuningFile::add(const std::vector<Json>& lines) {
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  LineFile file(path_, kJournalPatience);
  if (file.is_open() && file.append(text) && file.sync()) return;
  const int why = errno;
  throw Error(ExitCode::store, fmt::format("cannot write {}: {}", path_.string(), std::strerror(why)),
              hint_for(why));
}

void TuningFile::remove() {
  files_.remove_all(path_);
  files_.remove_all(folder());
}

void TuningSearch::check() const {
  Command command;
  command.argv = {python.string(), "-I", "-c", "import optuna"};
  command.environment = environment;
  command.limits.wall = kProposalLimit;
  const CommandResult result = runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (!result.ok())
    throw Error(ExitCode::tool_missing,
                fmt::format("{} has no Optuna: {}", python.string(), last_lines(result.tail, 1)),
                "install it with `python3 -m pip install optuna` in a virtual environment, and name its "
                "python3 in $KILN_PYTHON");
}

std::vector<TuningSetting> TuningSearch::propose(const fs::path& journal, std::size_t count) const {
  const std::string program(embedded_tuning_search().begin()->second);
  const CommandResult result =
      runner.ask({python.string(), "-I", "-c", program, journal.string(), std::to_string(count)}, environment,
                 kProposalLimit);
  if (!result.ok()) throw search_failed(result);
  try {
    auto sets = Json::parse(result.output).at("sets").get<std::vector<TuningSetting>>();
    if (sets.size() == count) return sets;
  } catch (const Json::exception&) {  // told below
  }
  throw search_failed(result);
}

TuningAnswer run_start(const TuningSubject& subject, const TuningStart& start, const StepSetup& setup) {
  BenchRequest request = subject.request;
  request.settings = subject.is_script ? script_environment(start.setting) : start.setting;
  request.wall = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(start.patience)));
  request.round = start.place.round;
  request.place = place_letter(start.place.side);
  const double begun = setup.clock.monotonic_seconds();
  TuningAnswer answer;
  try {
    if (subject.is_script)
      answer.objective = run_objective(request, setup);
    else
      answer.run = run_of_metric(run_workload(request, setup), request.workload.name, subject.metric);
  } catch (const Error& error) {
    if (error.code() != ExitCode::images_failed && error.code() != ExitCode::timeout) throw;
    answer.end = error.code() == ExitCode::timeout ? TrialEnd::stopped : TrialEnd::failed;
    answer.why = error.message();
  }
  answer.seconds = setup.clock.monotonic_seconds() - begun;
  return answer;
}

std::vector<TuningAnswer> run_starts(const TuningSubject& subject, const TuningJob& job,
                                     const StepSetup& setup) {
  std::vector<TuningAnswer> answers;
  for (const TuningStart& start : job) {
    answers.push_back(run_start(subject, start, setup));
    const bool is_rival = start.place.side == TuningSide::rival;  // the comparison goes on without it
    if (answers.back().end != TrialEnd::complete && !is_rival) break;
  }
  return answers;
}

TuningJournal run_course(const TuningCourse& course, TuningJournal journal) {
  return RunningCourse(course, std::move(journal)).run();
}

}  // namespace kiln
