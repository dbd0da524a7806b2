#include "image/records.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

constexpr std::array<std::string_view, 4> kFailureNames = {"input", "build", "infrastructure", "policy"};

Json to_json(const LayerRecord& layer) {
  return {{"blob", kiln::to_json(layer.blob)},
          {"diff_id", layer.diff_id.text()},
          {"step", layer.step},
          {"created_by", layer.created_by}};
}

LayerRecord layer_from_json(const JsonNode& node) {
  node.allow_only({"blob", "diff_id", "step", "created_by"});
  LayerRecord layer;
  layer.blob = descriptor_from_json(node.at("blob"));
  layer.diff_id = Digest::parse(node.at("diff_id").string());
  layer.step = node.at("step").string();
  layer.created_by = node.at("created_by").string();
  return layer;
}

FailureClass failure_from(const JsonNode& node) {
  std::string name = node.string();
  for (std::size_t i = 0; i < kFailureNames.size(); ++i)
    if (kFailureNames[i] == name) return static_cast<FailureClass>(i);
  node.fail("expected input, build, infrastructure or policy, found '" + name + "'");
}

}  // namespace

std::string_view name_of(FailureClass failure) { return kFailureNames.at(static_cast<std::size_t>(failure)); }

Json to_json(const StepRecord& record) {
  Json json{{"key", record.key}, {"layers", Json::array()}, {"seconds", record.seconds}};
  for (const LayerRecord& layer : record.layers) json["layers"].push_back(to_json(layer));
  if (record.base) json["base"] = to_json(*record.base);
  return json;
}

Json to_json(const TestRecord& record) {
  return {{"key", record.key}, {"seconds", record.seconds}, {"last_line", record.last_line}};
}

Json to_json(const FailureRecord& record) {
  return {{"key", record.key},          {"failure", name_of(record.failure)},
          {"what", record.what},        {"hint", record.hint},
          {"log", record.log.string()}, {"exit_code", static_cast<int>(record.exit_code)},
          {"seconds", record.seconds}};
}

StepRecord step_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "layers", "base", "seconds"});
  StepRecord record;
  record.key = node.at("key").string();
  for (const JsonNode& layer : node.at("layers").items()) record.layers.push_back(layer_from_json(layer));
  if (auto base = node.find("base")) record.base = image_config_from_json(*base);
  record.seconds = node.at("seconds").number();
  return record;
}

TestRecord test_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "seconds", "last_line"});
  return {node.at("key").string(), node.at("seconds").number(), node.at("last_line").string()};
}

FailureRecord failure_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "failure", "what", "hint", "log", "exit_code", "seconds"});
  FailureRecord record;
  record.key = node.at("key").string();
  record.failure = failure_from(node.at("failure"));
  record.what = node.at("what").string();
  record.hint = node.at("hint").string();
  record.log = node.at("log").string();
  record.exit_code = static_cast<ExitCode>(node.at("exit_code").integer(0, 255));
  record.seconds = node.at("seconds").number();
  return record;
}

}  // namespace kiln
