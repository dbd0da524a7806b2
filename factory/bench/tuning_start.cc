#include "factory/bench/tuning_start.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr auto kAnswerEnds = enum_names<TrialEnd>(
    {{TrialEnd::complete, "complete"}, {TrialEnd::stopped, "stopped"}, {TrialEnd::failed, "failed"}});
constexpr auto kSides = enum_names<TuningSide>(
    {{TuningSide::standard, "standard"}, {TuningSide::rival, "rival"}, {TuningSide::tuned, "tuned"}});

template <typename Enum, typename Names>
Enum name_at(const JsonNode& node, std::string_view key, const Names& names) {
  const auto found = names.find(node.at(key).string());
  if (!found) node.at(key).fail("kiln knows no such word");
  return *found;
}

TuningAnswer answer_from_json(const JsonNode& node) {
  node.allow_only({"end", "why", "seconds", "run", "objective"});
  TuningAnswer answer;
  answer.end = name_at<TrialEnd>(node, "end", kAnswerEnds);
  answer.why = text_at(node, "why");
  answer.seconds = not_negative_at(node, "seconds");
  if (const auto run = node.find("run")) answer.run = bench_run_from_json(*run, kAnyDate);
  if (const auto objective = node.find("objective")) answer.objective = objective->number();
  if (answer.end == TrialEnd::complete && !answer.run && !answer.objective)
    node.fail("a complete answer has a run or an objective");
  return answer;
}

}  // namespace

TuningTrial trial_of(TuningSetting setting, TuningAnswer answer, bool maximises) {
  if (answer.run) return complete_trial(std::move(setting), *answer.run, answer.seconds);
  TuningTrial trial;
  trial.setting = std::move(setting);
  trial.end = answer.end;
  trial.seconds = answer.seconds;
  trial.why = std::move(answer.why);
  if (!answer.objective) return trial;
  trial.median = *answer.objective;
  trial.cost = maximises ? -*answer.objective : *answer.objective;
  return trial;
}

TuningTurn turn_of(const TuningPlace& place, TuningAnswer answer) {
  return {place.round, place.side, answer.seconds, std::move(*answer.run)};
}

std::vector<TuningJob> comparison_jobs(const TuningJournal& journal, const std::vector<TuningPlace>& turns) {
  std::vector<TuningJob> jobs;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (i == 0 || turns[i].round != turns[i - 1].round) jobs.emplace_back();
    TuningStart start;
    start.place = turns[i];
    if (turns[i].side == TuningSide::rival) start.setting = rival_setting();
    if (turns[i].side == TuningSide::tuned) start.setting = journal.best()->setting;
    jobs.back().push_back(std::move(start));
  }
  return jobs;
}

double read_objective(const std::string& output, const std::string& script) {
  auto refuse = [&](const std::string& why) {
    return Error(ExitCode::images_failed, fmt::format("the last line of {} {}", script, why),
                 R"(expected {"objective": number}, such as the loss on held-out data)");
  };
  const std::string line = last_lines(output, 1);
  const Json said = Json::parse(line, nullptr, false);
  if (!said.is_object() || !said.contains("objective"))
    throw refuse(line.empty() ? "is missing: it printed nothing"
                              : fmt::format("is '{}'", without_controls(line.substr(0, 200))));
  const Json& objective = said["objective"];
  if (!objective.is_number() || !std::isfinite(objective.get<double>()))
    throw refuse("has an objective that is no finite number");
  return objective.get<double>();
}

Json to_json(const TuningJob& job) {
  Json starts = Json::array();
  for (const TuningStart& start : job)
    starts.push_back({{"set", start.setting},
                      {"patience", start.patience},
                      {"round", start.place.round},
                      {"side", kSides.of(start.place.side)}});
  return {{"format", 1}, {"starts", starts}};
}

TuningJob tuning_job_from_json(const JsonNode& node) {
  constexpr std::int64_t kMostRoundsOfJob = 1000;
  node.allow_only({"format", "starts"});
  TuningJob job;
  for (const JsonNode& one : node.at("starts").items()) {
    one.allow_only({"set", "patience", "round", "side"});
    TuningStart start;
    start.setting = map_at(one, "set");
    start.patience = not_negative_at(one, "patience");
    start.place.round = static_cast<int>(one.at("round").integer(0, kMostRoundsOfJob));
    start.place.side = name_at<TuningSide>(one, "side", kSides);
    job.push_back(std::move(start));
  }
  return job;
}

Json to_json(const std::vector<TuningAnswer>& answers) {
  Json list = Json::array();
  for (const TuningAnswer& answer : answers) {
    Json one{{"end", kAnswerEnds.of(answer.end)}, {"seconds", answer.seconds}};
    put(one, "why", answer.why);
    if (answer.run) one["run"] = to_json(*answer.run);
    if (answer.objective) one["objective"] = *answer.objective;
    list.push_back(std::move(one));
  }
  return {{"format", 1}, {"answers", list}};
}

std::vector<TuningAnswer> tuning_answers_from_json(const JsonNode& node) {
  node.allow_only({"format", "answers"});
  std::vector<TuningAnswer> answers;
  for (const JsonNode& one : node.at("answers").items()) answers.push_back(answer_from_json(one));
  return answers;
}

}  // namespace kiln
