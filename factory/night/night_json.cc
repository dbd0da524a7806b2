#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/date.h"
#include "factory/base/effects.h"
#include "factory/base/json_put.h"
#include "factory/night/night.h"

namespace kiln {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void put_number(Json& json, const char* key, double value) {
  if (value != 0) json[key] = value;
}

void put_time(Json& json, const char* key, std::int64_t time) {
  if (time != 0) json[key] = rfc3339(time);
}

// --- reading: what is absent is empty

std::string text_of(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  return found ? found->string() : "";
}

std::vector<std::string> texts_of(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  return found ? found->strings() : std::vector<std::string>();
}

double number_of(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  return found ? found->number() : 0;
}

std::int64_t integer_of(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  return found ? found->integer(0, kMost) : 0;
}

std::int64_t time_of(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  if (!found) return 0;
  if (auto time = unix_seconds_of(found->string())) return *time;
  found->fail("expected a date such as 2026-11-23T02:00:00Z, found '" + found->string() + "'");
}

std::map<std::string, std::string> map_of(const JsonNode& node, const char* key) {
  std::map<std::string, std::string> map;
  if (auto found = node.find(key))
    for (const auto& [name, value] : found->members()) map.emplace(name, value.string());
  return map;
}

template <typename Word, typename Find>
Word word_of(const JsonNode& node, const char* key, Find find) {
  const JsonNode found = node.at(key);
  if (auto word = find(found.string())) return *word;
  found.fail("'" + found.string() + "' is none of its words");
}

template <typename One, typename Read>
std::vector<One> each_of(const JsonNode& node, const char* key, Read read) {
  std::vector<One> all;
  if (auto found = node.find(key))
    for (const JsonNode& one : found->items()) all.push_back(read(one));
  return all;
}

// --- the parts

constexpr StockGain kGainWords[] = {StockGain::proven, StockGain::no_gain, StockGain::slower};

Json to_json(const NightGain& gain) {
  Json json{
      {"word", stock_gain_word(gain.word)}, {"ratio", gain.ratio}, {"low", gain.low}, {"high", gain.high}};
  if (gain.fell > 0) json["fell"] = gain.fell;
  if (gain.is_of_earlier_bits) json["of_earlier_bits"] = true;
  return json;
}

NightGain night_gain_from(const JsonNode& node) {
  NightGain gain;
  gain.word = word_of<StockGain>(node, "word", [](std::string_view text) -> std::optional<StockGain> {
    for (const StockGain word : kGainWords)
      if (stock_gain_word(word) == text) return word;
    return std::nullopt;
  });
  gain.ratio = node.at("ratio").number();
  gain.low = node.at("low").number();
  gain.high = node.at("high").number();
  gain.fell = integer_of(node, "fell");
  if (auto earlier = node.find("of_earlier_bits")) gain.is_of_earlier_bits = earlier->boolean();
  return gain;
}

Json to_json(const NightImage& image) {
  Json json{{"cell", image.cell},
            {"name", image.name},
            {"axes", image.axes},
            {"verdict", name_of(image.verdict)},
            {"actor", name_of(image.actor)}};
  put(json, "key", image.key);
  put(json, "include", image.include);
  put(json, "advice", image.advice);
  if (!image.what.empty()) {
    json["what"] = image.what;
    json["failure"] = name_of(image.failure);
    json["cause"] = static_cast<int>(image.cause);
  }
  put(json, "step", image.step);
  put(json, "script", image.script);
  put(json, "log", image.log);
  put(json, "end_of_log", image.end_of_log);
  put(json, "why", image.why);
  if (image.failing_since > 0) json["failing_since"] = image.failing_since;
  put_number(json, "seconds", image.seconds);
  if (image.bytes > 0) json["bytes"] = image.bytes;
  put(json, "speeds", image.speeds);
  for (const auto& [place, gain] : image.gains) json["gains"][place] = to_json(gain);
  return json;
}

NightImage image_from(const JsonNode& node) {
  NightImage image;
  image.cell = node.at("cell").string();
  image.name = node.at("name").string();
  image.axes = map_of(node, "axes");
  image.verdict = word_of<Verdict>(node, "verdict", verdict_named);
  image.actor = word_of<Actor>(node, "actor", actor_named);
  image.key = text_of(node, "key");
  image.include = text_of(node, "include");
  image.advice = text_of(node, "advice");
  image.what = text_of(node, "what");
  if (node.find("failure")) image.failure = word_of<FailureClass>(node, "failure", failure_class_named);
  if (auto cause = node.find("cause")) image.cause = static_cast<ExitCode>(cause->integer(0, 255));
  image.step = text_of(node, "step");
  image.script = text_of(node, "script");
  image.log = text_of(node, "log");
  image.end_of_log = text_of(node, "end_of_log");
  image.why = texts_of(node, "why");
  image.failing_since = integer_of(node, "failing_since");
  image.seconds = number_of(node, "seconds");
  image.bytes = static_cast<std::uint64_t>(integer_of(node, "bytes"));
  if (auto speeds = node.find("speeds"))
    for (const auto& [name, speed] : speeds->members()) image.speeds.emplace(name, speed.number());
  if (auto gains = node.find("gains"))
    for (const auto& [place, gain] : gains->members()) image.gains.emplace(place, night_gain_from(gain));
  return image;
}

Json to_json(const NightTrouble& trouble) {
  Json json{{"cause", name_of(trouble.cause)},
            {"actor", name_of(trouble.actor)},
            {"what", trouble.what},
            {"exit_code", static_cast<int>(trouble.code)}};
  put(json, "subject", trouble.subject);
  put(json, "advice", trouble.advice);
  if (trouble.since > 0) json["since"] = trouble.since;
  return json;
}

NightTrouble trouble_from(const JsonNode& node) {
  NightTrouble trouble;
  trouble.cause = word_of<TroubleCause>(node, "cause", trouble_cause_named);
  trouble.actor = word_of<Actor>(node, "actor", actor_named);
  trouble.what = node.at("what").string();
  trouble.code = static_cast<ExitCode>(node.at("exit_code").integer(0, 255));
  trouble.subject = text_of(node, "subject");
  trouble.advice = text_of(node, "advice");
  trouble.since = integer_of(node, "since");
  return trouble;
}

Json to_json(const FailureGroup& group) {
  Json json{{"what", group.what}, {"actor", name_of(group.actor)}, {"cells", group.cells}};
  put(json, "also", group.also);
  put(json, "shared", group.shared);
  put(json, "exclude", group.exclude);
  put(json, "includes", group.includes);
  return json;
}

FailureGroup group_from(const JsonNode& node) {
  FailureGroup group;
  group.what = node.at("what").string();
  group.actor = word_of<Actor>(node, "actor", actor_named);
  group.cells = texts_of(node, "cells");
  group.also = texts_of(node, "also");
  group.shared = map_of(node, "shared");
  group.includes = texts_of(node, "includes");
  if (auto entries = node.find("exclude"))
    for (const JsonNode& entry : entries->items()) {
      group.exclude.emplace_back();
      for (const auto& [axis, value] : entry.members()) group.exclude.back().emplace(axis, value.string());
    }
  return group;
}

Json to_json(const GateJob& job) {
  return {{"name", job.name}, {"cells", job.cells}, {"missing", job.missing}};
}

GateJob gate_from(const JsonNode& node) {
  return {node.at("name").string(), static_cast<std::size_t>(integer_of(node, "cells")),
          texts_of(node, "missing")};
}

Json to_json(const Trend& trend) {
  return {{"name", trend.name},   {"what", trend.what},   {"before", trend.before},
          {"after", trend.after}, {"night", trend.night}, {"suspected", trend.suspected}};
}

Trend trend_from(const JsonNode& node) {
  return {node.at("name").string(),  node.at("what").string(),  node.at("before").number(),
          node.at("after").number(), integer_of(node, "night"), node.at("suspected").boolean()};
}

Json to_json(const LockNews& lock) {
  Json json = Json::object();
  put(json, "changes", lock.changes);
  put(json, "held", lock.held);
  put(json, "proposals", lock.proposals);
  put(json, "problems", lock.problems);
  return json;
}

void read_lock(const JsonNode& node, LockNews& lock) {
  lock = {texts_of(node, "changes"), texts_of(node, "held"), texts_of(node, "proposals"),
          texts_of(node, "problems")};
}

template <typename List>
void put_each(Json& json, const char* key, const List& list) {
  for (const auto& one : list) json[key].push_back(to_json(one));
}

}  // namespace

Json to_json(const NightReport& report) {
  Json json{{"format", 1},
            {"matrix", report.matrix},
            {"number", report.number},
            {"state", name_of(report.state)},
            {"exit_code", report.exit_code},
            {"host", report.host},
            {"snapshot", report.snapshot},
            {"is_new_snapshot", report.is_new_snapshot},
            {"images", Json::array()}};
  put_time(json, "started", report.started);
  put_time(json, "ended", report.ended);
  put_time(json, "last_green", report.last_green);
  if (report.every >= 0) json["every"] = report.every;
  put(json, "remarks", report.remarks);
  put_each(json, "troubles", report.troubles);
  put(json, "warnings", report.warnings);
  put(json, "phases", report.phases);
  if (report.steps_run + report.steps_fetched > 0)
    json["steps"] = {{"run", report.steps_run}, {"fetched", report.steps_fetched}};
  if (Json lock = to_json(report.lock); !lock.empty()) json["lock"] = std::move(lock);
  put_each(json, "images", report.images);
  put(json, "gone", report.gone);
  put_each(json, "failures", report.failures);
  put_each(json, "gate", report.gate);
  put_each(json, "trends", report.trends);
  put(json, "collected", report.collected);
  put(json, "registry", report.registry);
  return json;
}

NightReport night_from_json(const JsonNode& node) {
  node.at("format").integer(1, 1);
  NightReport report;
  report.matrix = node.at("matrix").string();
  report.number = node.at("number").integer(1, kMost);
  report.state = word_of<NightState>(node, "state", night_state_named);
  report.exit_code = static_cast<int>(node.at("exit_code").integer(0, 255));
  report.host = text_of(node, "host");
  report.snapshot = integer_of(node, "snapshot");
  report.is_new_snapshot = node.at("is_new_snapshot").boolean();
  report.started = time_of(node, "started");
  report.ended = time_of(node, "ended");
  report.last_green = time_of(node, "last_green");
  if (auto every = node.find("every")) report.every = every->integer(0, kMost);
  report.remarks = texts_of(node, "remarks");
  report.troubles = each_of<NightTrouble>(node, "troubles", trouble_from);
  report.warnings = texts_of(node, "warnings");
  if (auto phases = node.find("phases"))
    for (const auto& [name, seconds] : phases->members()) report.phases.emplace(name, seconds.number());
  if (auto steps = node.find("steps")) {
    report.steps_run = static_cast<std::size_t>(integer_of(*steps, "run"));
    report.steps_fetched = static_cast<std::size_t>(integer_of(*steps, "fetched"));
  }
  if (auto lock = node.find("lock")) read_lock(*lock, report.lock);
  report.images = each_of<NightImage>(node, "images", image_from);
  report.gone = texts_of(node, "gone");
  report.failures = each_of<FailureGroup>(node, "failures", group_from);
  report.gate = each_of<GateJob>(node, "gate", gate_from);
  report.trends = each_of<Trend>(node, "trends", trend_from);
  report.collected = text_of(node, "collected");
  report.registry = text_of(node, "registry");
  return report;
}

}  // namespace kiln
