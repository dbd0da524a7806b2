#include "factory/bench/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/record/image_record.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

// A trial is ended when it has taken so many times as long as the best one, and some seconds for its start.
constexpr double kTimesTheBest = 2;
constexpr double kStartSeconds = 5;
constexpr const char* kLauncher = "KILN_BENCH_LAUNCHER";
constexpr const char* kRivalName = "run_cpu";
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

// nullptr: the comparison is without it.
const TuningTrial* compared_rival(const TuningJournal& journal) {
  const TuningTrial* rival = journal.rival();
  const bool takes_part =
      rival != nullptr && rival->end == TrialEnd::complete && journal.rival_failed.empty();
  return takes_part ? rival : nullptr;
}

// What the comparison takes, by what its settings have taken so far.
double reserve(const TuningTerms& terms, const TuningJournal& journal) {
  const TuningTrial* rival = compared_rival(journal);
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

NextTuningStep next_turn(const TuningTerms& terms, const TuningJournal& journal, std::string why) {
  NextTuningStep next;
  next.why = std::move(why);
  if (!journal.failed.empty() || journal.best()->setting.empty()) return next;
  std::vector<TuningSide> sides = {TuningSide::standard, TuningSide::tuned};
  if (compared_rival(journal) != nullptr) sides.insert(sides.begin() + 1, TuningSide::rival);
  // Default and tuned, tuned and default, …: what drifts with time meets both as early as late.
  for (int round = 0; round < terms.rounds; ++round, std::reverse(sides.begin(), sides.end()))
    for (const TuningSide side : sides) {
      const bool done = std::any_of(journal.turns.begin(), journal.turns.end(), [&](const TuningTurn& turn) {
        return turn.round == round && turn.side == side;
      });
      if (!done) return {TuningStep::compare, 0, round, side, next.why};
    }
  return next;
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

TuningSetting rival_setting() { return {{kLauncher, "torch.backends.xeon.run_cpu"}}; }

bool is_rival(const TuningSetting& setting) { return setting.contains(kLauncher); }

bool has_rival(const RunAxes& axes) {
  return axes.framework == "pytorch" && axes.accelerator == "cpu" && Version(axes.version) >= Version("1.13");
}

std::string trial_name(const TuningSetting& setting) {
  return is_rival(setting) ? kRivalName : text_of(setting);
}

double TuningJournal::seconds() const {
  double sum = 0;
  for (const TuningTrial& trial : trials) sum += trial.seconds;
  for (const TuningTurn& turn : turns) sum += turn.seconds;
  return sum;
}

const TuningTrial* TuningJournal::best() const {
  const TuningTrial* best = nullptr;
  for (const TuningTrial& trial : trials)
    if (trial.end == TrialEnd::complete && !is_rival(trial.setting) &&
        (best == nullptr || trial.cost < best->cost))
      best = &trial;
  return best;
}

const TuningTrial* TuningJournal::rival() const {
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [](const TuningTrial& trial) { return is_rival(trial.setting); });
  return found == trials.end() ? nullptr : &*found;
}

std::size_t TuningJournal::distinct() const {
  std::set<TuningSetting> settings;
  for (const TuningTrial& trial : trials)
    if (!is_rival(trial.setting)) settings.insert(trial.setting);
  return settings.size();
}

std::optional<std::size_t> TuningJournal::trial_with(const TuningSetting& setting) const {
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (trials[i].setting == setting) return i;
  return std::nullopt;
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
  if (journal.trials.empty()) return {TuningStep::try_default, terms.budget, 0, TuningSide::standard, ""};
  check_default(journal.trials.front());
  if (!journal.turns.empty() || !journal.failed.empty()) return next_turn(terms, journal, "");
  const double each = journal.trials.front().seconds;
  const double left = terms.budget - journal.seconds() - reserve(terms, journal);
  if (journal.trials.size() == 1 && left < each)
    throw Error(
        ExitCode::usage,
        fmt::format("a budget of {:.0f} s is too small: one run takes {:.1f} s, and the comparison at "
                    "the end takes {} of them",
                    terms.budget, each, 2 * terms.rounds),
        fmt::format("--budget {:.0f}s allows one trial", std::ceil(each * (2 * terms.rounds + 2.5))));
  // As one start of it more in each round, if there is time for all of them.
  const bool may_try_rival = terms.rival && journal.rival() == nullptr;
  const bool tries_rival = may_try_rival && left > each * (terms.rounds + 2);
  const std::string why = tries_rival ? "" : end_of_search(terms, journal, left);
  if (!why.empty()) return next_turn(terms, journal, why);
  const double patience = kTimesTheBest * journal.best()->seconds + kStartSeconds;
  return {tries_rival ? TuningStep::try_rival : TuningStep::search, std::min(patience, left), 0,
          TuningSide::standard, ""};
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
  if (compared_rival(journal) != nullptr) verdict.over_rival = over(journal, TuningSide::rival);
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

// The journal of a tuning: JSON, a line each. The first one is the head; the others are trials, turns of the
// comparison, and the failure that ended it.

namespace {

constexpr auto kTrialEnds = enum_names<TrialEnd>({{TrialEnd::complete, "complete"},
                                                  {TrialEnd::stopped, "stopped"},
                                                  {TrialEnd::failed, "failed"},
                                                  {TrialEnd::same, "same"}});

// What kiln wrote stays, also when the clock is put back.
constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max() - kClockTolerance;

TuningTrial trial_from_json(const JsonNode& node) {
  node.allow_only({"trial", "set", "end", "cost", "median", "unit", "seconds", "why"});
  TuningTrial trial;
  trial.setting = map_at(node, "set");
  const auto end = kTrialEnds.find(node.at("end").string());
  if (!end) node.at("end").fail("expected an end of a trial");
  trial.end = *end;
  trial.cost = not_negative_at(node, "cost");
  if (trial.end == TrialEnd::complete && !(trial.cost > 0)) node.fail("a complete trial has a cost");
  trial.median = not_negative_at(node, "median");
  trial.unit = text_at(node, "unit");
  trial.seconds = not_negative_at(node, "seconds");
  trial.why = text_at(node, "why");
  return trial;
}

TuningTurn turn_from_json(const JsonNode& node) {
  node.allow_only({"round", "tuned", "rival", "seconds", "run"});
  constexpr std::int64_t kMostTuningRounds = 1000;
  TuningTurn turn;
  turn.round = static_cast<int>(node.at("round").integer(0, kMostTuningRounds));
  if (flag_at(node, "tuned")) turn.side = TuningSide::tuned;
  if (flag_at(node, "rival")) turn.side = TuningSide::rival;
  turn.seconds = not_negative_at(node, "seconds");
  turn.run = bench_run_from_json(node.at("run"), kAnyTime);
  return turn;
}

void add_line(const JsonNode& node, TuningJournal& journal) {
  if (const auto number = node.find("trial")) {
    number->integer(static_cast<std::int64_t>(journal.trials.size()),
                    static_cast<std::int64_t>(journal.trials.size()));
    journal.trials.push_back(trial_from_json(node));
  } else if (node.find("round")) {
    journal.turns.push_back(turn_from_json(node));
  } else if (const auto rival = node.find("rival_failed")) {
    journal.rival_failed = rival->string();
  } else {
    journal.failed = node.at("failed").string();
  }
}

}  // namespace

Json to_json(const TuningHead& head) {
  Json json{{"format", 1},
            {"image", head.image},
            {"key", head.key},
            {"workload", head.workload},
            {"workload_files", head.workload_files},
            {"host", {{"cpu", head.host.cpu}, {"model", head.host.model}, {"cores", head.host.cores}}},
            {"seed", head.seed},
            {"space", to_json(head.space)}};
  if (head.steps > 0) json["steps"] = head.steps;
  put(json, "data", head.data);
  return json;
}

Json to_json(const TuningTrial& trial, std::size_t number) {
  Json json{{"trial", number},
            {"set", trial.setting},
            {"end", kTrialEnds.of(trial.end)},
            {"seconds", trial.seconds}};
  if (trial.cost > 0) json.update({{"cost", trial.cost}, {"median", trial.median}});
  put(json, "unit", trial.unit);
  put(json, "why", trial.why);
  return json;
}

Json to_json(const TuningTurn& turn) {
  Json json{{"round", turn.round},
            {"tuned", turn.side == TuningSide::tuned},
            {"seconds", turn.seconds},
            {"run", to_json(turn.run)}};
  if (turn.side == TuningSide::rival) json["rival"] = true;
  return json;
}

Json failed_comparison(TuningSide side, const std::string& why) {
  return {{side == TuningSide::rival ? "rival_failed" : "failed", why}};
}

TuningJournal read_tuning_journal(std::string_view text, const std::string& file) {
  TuningJournal journal;
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // "", or what a kill left
  try {
    if (!lines.empty()) JsonDocument::parse(lines[0], file + ", line 1").root().at("space");
    for (std::size_t i = 1; i < lines.size(); ++i)
      add_line(JsonDocument::parse(lines[i], fmt::format("{}, line {}", file, i + 1)).root(), journal);
  } catch (const Error& error) {
    throw Error(ExitCode::store, fmt::format("the journal is damaged: {}", error.format("")),
                "remove the file to begin anew");
  }
  return journal;
}

}  // namespace kiln
