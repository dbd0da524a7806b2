#include "factory/bench/tuning_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr const char* kLauncher = "KILN_BENCH_LAUNCHER";

constexpr auto kTrialEnds = enum_names<TrialEnd>({{TrialEnd::complete, "complete"},
                                                  {TrialEnd::stopped, "stopped"},
                                                  {TrialEnd::failed, "failed"},
                                                  {TrialEnd::same, "same"}});

// What kiln wrote stays, also when the clock is put back.
constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max() - kClockTolerance;

double finite_number(const JsonNode& node) {
  const double value = node.number();
  if (!std::isfinite(value)) node.fail("expected a finite number");
  return value;
}

TuningTrial trial_from_json(const JsonNode& node) {
  node.allow_only({"trial", "set", "end", "cost", "median", "unit", "seconds", "why"});
  TuningTrial trial;
  trial.setting = map_at(node, "set");
  const auto end = kTrialEnds.find(node.at("end").string());
  if (!end) node.at("end").fail("expected an end of a trial");
  trial.end = *end;
  if (const auto cost = node.find("cost")) trial.cost = finite_number(*cost);
  if (trial.end == TrialEnd::complete && !trial.cost) node.fail("a complete trial has a cost");
  if (const auto median = node.find("median")) trial.median = finite_number(*median);
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
  const auto found =
      std::ranges::find_if(trials, [](const TuningTrial& trial) { return is_rival(trial.setting); });
  return found == trials.end() ? nullptr : &*found;
}

const TuningTrial* TuningJournal::compared_rival() const {
  const TuningTrial* tried = rival();
  const bool takes_part = tried != nullptr && tried->end == TrialEnd::complete && rival_failed.empty();
  return takes_part ? tried : nullptr;
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

TuningTrial trial_again(const TuningJournal& journal, std::size_t number) {
  TuningTrial trial = journal.trials[number];
  trial.end = TrialEnd::same;
  trial.seconds = 0;
  trial.why = fmt::format("trial {}", number);
  return trial;
}

std::string text_of(const TuningTrial& trial) {
  const std::string unit = trial.unit.empty() ? "" : " " + trial.unit;
  if (trial.end == TrialEnd::complete)
    return fmt::format("{:.4g}{} ({:.0f} s)", trial.median, unit, trial.seconds);
  if (trial.end == TrialEnd::stopped) return fmt::format("ended after {:.0f} s: too slow", trial.seconds);
  if (trial.end == TrialEnd::same) return "as " + trial.why;
  return "failed: " + trial.why.substr(0, trial.why.find('\n'));
}

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
  if (trial.cost) json.update({{"cost", *trial.cost}, {"median", trial.median}});
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
