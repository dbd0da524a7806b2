#include "factory/state/record_types.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"

namespace kiln {
namespace {

constexpr auto kFailures = enum_names<FailureClass>({{FailureClass::input, "input"},
                                                     {FailureClass::build, "build"},
                                                     {FailureClass::infrastructure, "infrastructure"},
                                                     {FailureClass::policy, "policy"}});

Json to_json(const BuiltLayer& layer) {
  return {{"blob", kiln::to_json(layer.blob)},
          {"diff_id", layer.diff_id.text()},
          {"step", layer.step},
          {"created_by", layer.created_by}};
}

BuiltLayer layer_from_json(const JsonNode& node) {
  node.allow_only({"blob", "diff_id", "step", "created_by"});
  BuiltLayer layer;
  layer.blob = descriptor_from_json(node.at("blob"));
  layer.diff_id = Digest::parse(node.at("diff_id").string());
  layer.step = node.at("step").string();
  layer.created_by = node.at("created_by").string();
  return layer;
}

FailureClass failure_from(const JsonNode& node) {
  std::string name = node.string();
  if (auto failure = kFailures.find(name)) return *failure;
  node.fail("expected input, build, infrastructure or policy, found '" + name + "'");
}

}  // namespace

std::string_view name_of(FailureClass failure) { return kFailures.of(failure); }
std::optional<FailureClass> failure_class_named(std::string_view name) { return kFailures.find(name); }

namespace {

void put_origin(Json& json, const RecordOrigin& origin) {
  kiln::put(json, "fetched_from", origin.place);
  kiln::put(json, "signed_by", origin.signer);
}

RecordOrigin origin_in(const JsonNode& node) {
  RecordOrigin origin;
  if (auto place = node.find("fetched_from")) origin.place = place->string();
  if (auto signer = node.find("signed_by")) origin.signer = signer->string();
  return origin;
}

}  // namespace

Json to_json(const StepRecord& record) {
  Json json{{"key", record.key}, {"layers", Json::array()}, {"seconds", record.seconds}};
  for (const BuiltLayer& layer : record.chain.layers) json["layers"].push_back(to_json(layer));
  if (record.chain.base) json["base"] = to_json(*record.chain.base);
  put_origin(json, record.origin);
  return json;
}

Json to_json(const TestRecord& record) {
  Json json{{"key", record.key}, {"seconds", record.seconds}, {"last_line", record.last_line}};
  put(json, "host", record.host);
  put(json, "cpu", record.cpu);
  put(json, "taken", record.taken);
  put(json, "accelerators", record.accelerators);
  put(json, "kernel", record.kernel);
  put_origin(json, record.origin);
  put(json, "emulator", record.emulator);
  return json;
}

Json to_json(const FailureRecord& record) {
  Json json{{"key", record.key},          {"failure", name_of(record.failure)},
            {"what", record.what},        {"hint", record.hint},
            {"log", record.log.string()}, {"exit_code", static_cast<int>(record.exit_code)},
            {"seconds", record.seconds}};
  put(json, "tries", record.tries);
  return json;
}

StepRecord step_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "layers", "base", "seconds", "fetched_from", "signed_by"});
  StepRecord record;
  record.key = node.at("key").string();
  for (const JsonNode& layer : node.at("layers").items())
    record.chain.layers.push_back(layer_from_json(layer));
  if (auto base = node.find("base")) record.chain.base = image_config_from_json(*base);
  record.seconds = node.at("seconds").number();
  record.origin = origin_in(node);
  return record;
}

TestRecord test_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "seconds", "last_line", "host", "cpu", "taken", "accelerators", "kernel",
                   "emulator", "fetched_from", "signed_by"});
  TestRecord record{node.at("key").string(), node.at("seconds").number(), node.at("last_line").string()};
  if (auto host = node.find("host")) record.host = host->string();
  if (auto cpu = node.find("cpu")) record.cpu = cpu->string();
  if (auto taken = node.find("taken")) record.taken = taken->string();
  if (auto all = node.find("accelerators"))
    for (const JsonNode& one : all->items()) record.accelerators.push_back(one.string());
  if (auto kernel = node.find("kernel")) record.kernel = kernel->string();
  record.origin = origin_in(node);
  if (auto emulator = node.find("emulator")) record.emulator = emulator->string();
  return record;
}

FailureRecord failure_record_from_json(const JsonNode& node) {
  node.allow_only({"key", "failure", "what", "hint", "log", "exit_code", "seconds", "tries"});
  FailureRecord record;
  record.key = node.at("key").string();
  record.failure = failure_from(node.at("failure"));
  record.what = node.at("what").string();
  record.hint = node.at("hint").string();
  record.log = node.at("log").string();
  record.exit_code = static_cast<ExitCode>(node.at("exit_code").integer(0, 255));
  record.seconds = node.at("seconds").number();
  if (auto tries = node.find("tries"))
    for (const JsonNode& one : tries->items()) record.tries.push_back(one.string());
  return record;
}

}  // namespace kiln
