#include "factory/record/tuned_record.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

double tuned_ratio(const JsonNode& node) {
  const double value = node.number();
  if (!(value > 0) || !std::isfinite(value)) node.fail("a gain is greater than 0");
  return value;
}

// A job exports these, so a name is a variable's and a value is one line.
std::map<std::string, std::string> settings_at(const JsonNode& node) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : node.at("settings").members()) {
    const bool is_own = name.starts_with("KILN_") && !is_workload_option(name);
    if (!is_variable_name(name) || is_own || name == "PATH")
      throw Error(ExitCode::input, node.at("settings").where_key(name),
                  fmt::format("'{}' is no variable that a setting may have", name));
    settings.emplace(name, value.line_of_text());
  }
  return settings;
}

MeasuredGain gain_at(const JsonNode& node) {
  const JsonNode gain = node.at("gain");
  gain.allow_only({"ratio", "low", "high"});
  MeasuredGain found{"", tuned_ratio(gain.at("ratio")), tuned_ratio(gain.at("low")),
                     tuned_ratio(gain.at("high"))};
  if (found.low > found.high) gain.at("low").fail("the interval of a gain ends before it begins");
  return found;
}

}  // namespace

std::string TunedRecord::machine() const {
  const std::string& name = host.model.empty() ? host.cpu : host.model;
  return fmt::format("{}, {}", name, counted(static_cast<std::size_t>(host.cores), "core"));
}

bool is_workload_option(std::string_view name) {
  return name == "KILN_BENCH_BATCH" || name == "KILN_BENCH_WORKERS";
}

std::string setting_text(const std::map<std::string, std::string>& setting) {
  std::string text;
  for (const auto& [name, value] : setting) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string TunedRecord::sum() const {
  const Json what{{"key", key},
                  {"workload", workload},
                  {"host", {{"cpu", host.cpu}, {"model", host.model}, {"cores", host.cores}}}};
  return Digest::of(what.dump()).hex();
}

Json to_json(const TunedRecord& record) {
  Json json{{"format", 1},
            {"image", record.image},
            {"manifest", record.manifest.text()},
            {"key", record.key},
            {"workload", record.workload},
            {"host", to_json(record.host)},
            {"settings", record.settings},
            {"recommended", record.recommended},
            {"result", record.text},
            {"gain", {{"ratio", record.gain.ratio}, {"low", record.gain.low}, {"high", record.gain.high}}},
            {"rounds", record.rounds},
            {"trials", record.trials},
            {"seed", record.seed},
            {"kiln", record.kiln},
            {"taken", record.taken}};
  put(json, "workload_files", record.workload_files);
  return json;
}

TunedRecord tuned_record_from_json(const JsonNode& node) {
  node.allow_only({"format", "image", "manifest", "key", "workload", "workload_files", "host", "settings",
                   "recommended", "result", "gain", "rounds", "trials", "seed", "kiln", "taken"});
  node.at("format").integer(1, 1);
  TunedRecord record;
  record.image = node.at("image").line_of_text();
  record.manifest = digest_at(node, "manifest");
  record.key = node.at("key").line_of_text();
  record.workload = node.at("workload").line_of_text();
  record.workload_files = text_at(node, "workload_files");
  record.host = host_from_json(node.at("host"));
  record.settings = settings_at(node);
  record.recommended = flag_at(node, "recommended");
  record.text = node.at("result").string();
  record.gain = gain_at(node);
  if (record.recommended && (record.settings.empty() || !(record.gain.low > 1)))
    node.at("recommended").fail("a recommended setting has variables, and its whole interval is above 1");
  record.rounds = small_count_at(node, "rounds");
  record.trials = count_at(node, "trials");
  record.seed = static_cast<std::int64_t>(count_at(node, "seed"));
  record.kiln = text_at(node, "kiln");
  record.taken = node.at("taken").line_of_text();
  return record;
}

}  // namespace kiln
