#include "factory/bench/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/record/image_record.h"

namespace kiln {
namespace {

// A trial is ended when it has taken so many times as long as the best one, and some seconds for its start.
constexpr double kTimesTheBest = 2;
constexpr double kStartSeconds = 5;
// So many proposals in a row that were tried before: the search has nothing new.
constexpr std::size_t kMostRepeats = 20;

// For a batch of the workload's own size, how much of a step is one element of it.
double elements_of(const BenchRun& run) {
  if (!run.unit.ends_with("/step") && !run.unit.ends_with("/batch")) return 1;
  const auto batch = run.output.find("batch");
  const bool says = batch != run.output.end() && batch->is_number() && batch->get<double>() > 0;
  return says ? batch->get<double>() : 1;
}

void check_default(const TuningTrial& trial) {
  if (trial.end == TrialEnd::stopped)
    throw Error(
        ExitCode::timeout,
        fmt::format("the budget was spent before the workload ended, with {}", text_of(trial.setting)),
        "give a larger --budget");
  if (trial.end != TrialEnd::complete)
    throw Error(ExitCode::images_failed, trial.why,
                "kiln compares every setting with the default, so the default must run");
}

// What the comparison takes, by what its settings have taken so far.
double reserve(const TuningTerms& terms, const TuningJournal& journal) {
  const TuningTrial* rival = journal.compared_rival();
  return terms.rounds *
         (journal.trials.front().seconds + journal.best()->seconds + (rival == nullptr ? 0 : rival->seconds));
}

bool repeats_itself(const TuningJournal& journal) {
  const auto& trials = journal.trials;
  return trials.size() > kMostRepeats &&
         std::all_of(trials.end() - kMostRepeats, trials.end(),
                     [](const TuningTrial& trial) { return trial.end == TrialEnd::same; });
}

// Why no further trial is made; "": one is.
std::string end_of_search(const TuningTerms& terms, const TuningJournal& journal, double left) {
  if (journal.trials.size() >= terms.trials) return "all trials were made";
  if (static_cast<double>(journal.distinct()) >= terms.points) return "the whole space was tried";
  if (repeats_itself(journal)) return "the search proposes nothing new";
  if (left < journal.trials.front().seconds) return "the budget is spent";
  return "";
}

bool was_measured(const TuningJournal& journal, const TuningPlace& place) {
  return std::ranges::any_of(journal.turns, [&](const TuningTurn& turn) {
    return turn.round == place.round && turn.side == place.side;
  });
}

// Of one start at a time the next one; else all that the next `at_once` rounds lack.
NextTuningStep next_turn(const TuningTerms& terms, const TuningJournal& journal, std::string why) {
  NextTuningStep next;
  next.why = std::move(why);
  if (!journal.failed.empty() || journal.best()->setting.empty()) return next;
  std::vector<TuningSide> sides = {TuningSide::standard, TuningSide::tuned};
  if (journal.compared_rival() != nullptr) sides.insert(sides.begin() + 1, TuningSide::rival);
  std::size_t begun = 0;  // rounds that lack a start
  // Default and tuned, tuned and default, …: what drifts with time meets both as early as late.
  for (int round = 0; round < terms.rounds && begun < terms.at_once; ++round, std::ranges::reverse(sides)) {
    const std::size_t before = next.turns.size();
    for (const TuningSide side : sides)
      if (!was_measured(journal, {round, side})) next.turns.push_back({round, side});
    if (next.turns.size() > before) ++begun;
  }
  if (next.turns.empty()) return next;
  next.step = TuningStep::compare;
  if (terms.at_once == 1) next.turns.resize(1);
  return next;
}

// So many that a tuning that went on after a kill proposes the same ones together as one that was not killed.
std::size_t proposed_together(const TuningTerms& terms, const TuningJournal& journal, double left) {
  const std::size_t first = journal.rival() == nullptr ? 1 : 2;
  const std::size_t searched = journal.trials.size() - first;
  const std::size_t wanted =
      std::min(terms.at_once - searched % terms.at_once, terms.trials - journal.trials.size());
  std::size_t affordable = 1;
  while (affordable < wanted && static_cast<double>(affordable + 1) * journal.trials.front().seconds <= left)
    ++affordable;
  return affordable;
}

std::vector<std::vector<double>> costs_of_side(const TuningJournal& journal, TuningSide side) {
  std::vector<std::vector<double>> costs;
  for (const TuningTurn& turn : journal.turns)
    if (turn.side == side) costs.push_back(costs_of(turn.run));
  return costs;
}

Comparison over(const TuningJournal& journal, TuningSide side) {
  return compare_runs(costs_of_side(journal, side), costs_of_side(journal, TuningSide::tuned),
                      /*more_is_better=*/false);
}

std::string text_over_rival(const Comparison& found) {
  if (found.low > 1) return gain_text({"", found.ratio, found.low, found.high}, kRivalName);
  return fmt::format("no better than {} ({:.2f} to {:.2f})", kRivalName, found.low, found.high);
}

}  // namespace

bool ended_with_the_budget(const TuningJournal& journal) {
  return journal.trials.size() == 1 && journal.trials.front().end == TrialEnd::stopped;
}

std::vector<double> costs_of(const BenchRun& run) {
  const bool is_rate = more_is_better(run.unit);
  const double elements = elements_of(run);
  std::vector<double> costs;
  for (const double sample : run.steady()) costs.push_back(is_rate ? 1 / sample : sample / elements);
  return costs;
}

TuningTrial complete_trial(TuningSetting setting, const BenchRun& run, double seconds) {
  TuningTrial trial;
  trial.setting = std::move(setting);
  trial.cost = median_of(costs_of(run));
  trial.median = median_of({run.steady().begin(), run.steady().end()});
  trial.unit = run.unit;
  trial.seconds = seconds;
  return trial;
}

NextTuningStep next_step(const TuningTerms& terms, const TuningJournal& journal) {
  if (journal.trials.empty()) return {TuningStep::try_default, terms.budget};
  check_default(journal.trials.front());
  if (!journal.turns.empty() || !journal.failed.empty()) return next_turn(terms, journal, "");
  const double each = journal.trials.front().seconds;
  const double left = terms.budget - journal.seconds() - reserve(terms, journal);
  if (journal.trials.size() == 1 && left < each)
    throw Error(
        ExitCode::usage,
        fmt::format("a budget of {:.0f} s is too small: one run takes {:.1f} s{}", terms.budget, each,
                    terms.rounds == 0
                        ? ""
                        : fmt::format(", and the comparison at the end takes {} of them", 2 * terms.rounds)),
        fmt::format("--budget {:.0f}s allows one trial", std::ceil(each * (2 * terms.rounds + 2.5))));
  // As one start of it more in each round, if there is time for all of them.
  const bool may_try_rival = terms.rival && journal.rival() == nullptr;
  const bool tries_rival = may_try_rival && left > each * (terms.rounds + 2);
  const std::string why = tries_rival ? "" : end_of_search(terms, journal, left);
  if (!why.empty()) return next_turn(terms, journal, why);
  NextTuningStep next{tries_rival ? TuningStep::try_rival : TuningStep::search};
  if (!tries_rival) next.count = proposed_together(terms, journal, left);
  next.patience = left / static_cast<double>(next.count);
  // A setting that makes a script slower may still make its objective better.
  if (terms.rounds > 0)
    next.patience = std::min(next.patience, kTimesTheBest * journal.best()->seconds + kStartSeconds);
  return next;
}

TuningVerdict verdict_of(const TuningJournal& journal) {
  TuningVerdict verdict;
  const TuningTrial* best = journal.best();
  if (best == nullptr || best->setting.empty()) {
    verdict.text = "no setting was faster than the default";
    return verdict;
  }
  verdict.setting = best->setting;
  if (!journal.failed.empty()) {
    verdict.text = "not recommended: it failed in the comparison: " + journal.failed;
    return verdict;
  }
  verdict.comparison = over(journal, TuningSide::standard);
  if (journal.compared_rival() != nullptr) verdict.over_rival = over(journal, TuningSide::rival);
  const Comparison& found = *verdict.comparison;
  verdict.recommended = found.low > 1;
  std::string gain = gain_text({"", found.ratio, found.low, found.high});
  if (verdict.over_rival) gain += "; " + text_over_rival(*verdict.over_rival);
  if (verdict.recommended)
    verdict.text = "recommended: " + gain;
  else
    verdict.text = "not recommended: " + gain + (found.high < 1 ? ", slower than the default" : "");
  return verdict;
}

}  // namespace kiln
