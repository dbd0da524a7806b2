#include "factory/run/tuning_course.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

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
    if (without_rival) course_.tell("the comparison goes on without run_cpu: " + answer.why);
  }

  const TuningCourse& course_;
  TuningJournal journal_;
};

}  // namespace

TuningJournal run_course(const TuningCourse& course, TuningJournal journal) {
  return RunningCourse(course, std::move(journal)).run();
}

}  // namespace kiln
