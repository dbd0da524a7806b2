#include "factory/record/tuned_record.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

double tuned_ratio(const JsonNode& node) {
  const double value = node.number();
  if (!(value > 0) || !std::isfinite(value)) node.fail("a gain is greater than 0");
  return value;
}

}  // namespace

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
  record.settings = map_at(node, "settings");
  record.recommended = flag_at(node, "recommended");
  record.text = node.at("result").string();
  const JsonNode gain = node.at("gain");
  gain.allow_only({"ratio", "low", "high"});
  record.gain = {"", tuned_ratio(gain.at("ratio")), tuned_ratio(gain.at("low")),
                 tuned_ratio(gain.at("high"))};
  record.rounds = small_count_at(node, "rounds");
  record.trials = count_at(node, "trials");
  record.seed = static_cast<std::int64_t>(count_at(node, "seed"));
  record.kiln = text_at(node, "kiln");
  record.taken = node.at("taken").line_of_text();
  return record;
}

}  // namespace kiln
