// The journal of a tuning: JSON, a line each. The first one is the head; the others are trials, turns of the
// comparison, and the failure that ended it.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/bench/tuning.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr auto kTrialEnds = enum_names<TrialEnd>({{TrialEnd::complete, "complete"},
                                                  {TrialEnd::stopped, "stopped"},
                                                  {TrialEnd::failed, "failed"},
                                                  {TrialEnd::same, "same"}});

// What kiln wrote stays, also when the clock is put back.
constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max() - kClockTolerance;

double finite_at(const JsonNode& node, std::string_view key) {
  const auto found = node.find(key);
  if (!found) return 0;
  const double value = found->number();
  if (!(value >= 0) || !std::isfinite(value)) found->fail("expected a number from 0");
  return value;
}

TuningTrial trial_from_json(const JsonNode& node) {
  node.allow_only({"trial", "set", "end", "cost", "median", "unit", "seconds", "why"});
  TuningTrial trial;
  trial.setting = map_at(node, "set");
  const auto end = kTrialEnds.find(node.at("end").string());
  if (!end) node.at("end").fail("expected an end of a trial");
  trial.end = *end;
  trial.cost = finite_at(node, "cost");
  if (trial.end == TrialEnd::complete && !(trial.cost > 0)) node.fail("a complete trial has a cost");
  trial.median = finite_at(node, "median");
  trial.unit = text_at(node, "unit");
  trial.seconds = finite_at(node, "seconds");
  trial.why = text_at(node, "why");
  return trial;
}

TuningTurn turn_from_json(const JsonNode& node) {
  node.allow_only({"round", "tuned", "seconds", "run"});
  constexpr std::int64_t kMostTuningRounds = 1000;
  TuningTurn turn;
  turn.round = static_cast<int>(node.at("round").integer(0, kMostTuningRounds));
  turn.tuned = flag_at(node, "tuned");
  turn.seconds = finite_at(node, "seconds");
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
  return {
      {"round", turn.round}, {"tuned", turn.tuned}, {"seconds", turn.seconds}, {"run", to_json(turn.run)}};
}

Json failed_comparison(const std::string& why) { return {{"failed", why}}; }

TuningJournal read_tuning_journal(std::string_view text, const std::string& file) {
  TuningJournal journal;
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // "", or what a kill left
  try {
    for (std::size_t i = 1; i < lines.size(); ++i)
      add_line(JsonDocument::parse(lines[i], fmt::format("{}, line {}", file, i + 1)).root(), journal);
  } catch (const Error& error) {
    throw Error(ExitCode::store, fmt::format("the journal is damaged: {}", error.format("")),
                "remove the file to begin anew");
  }
  return journal;
}

}  // namespace kiln
