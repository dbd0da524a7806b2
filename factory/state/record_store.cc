#include "factory/state/record_store.h"

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

namespace {

template <typename Record>
std::optional<Record> read_record(const FileSystem& files, const fs::path& file,
                                  Record (*from_json)(const JsonNode&)) {
  auto bytes = files.read(file);
  if (!bytes) return std::nullopt;
  return from_json(JsonDocument::parse(*bytes, file.string()).root());
}

template <typename Record>
std::optional<Record> of_key(std::optional<Record> record, std::string_view key, const fs::path& file) {
  if (record && record->key != key)
    throw Error(ExitCode::store, file.string() + " is the record of another key");
  return record;
}

}  // namespace

std::optional<StepRecord> RecordReader::step(std::string_view key) const {
  const fs::path file = state_->step(key);
  return of_key(read_record(*files_, file, &step_record_from_json), key, file);
}

std::optional<TestRecord> RecordReader::test(std::string_view key) const {
  const fs::path file = state_->test(key);
  return of_key(read_record(*files_, file, &test_record_from_json), key, file);
}

std::optional<FailureRecord> RecordReader::failure(std::string_view key) const {
  return read_record(*files_, state_->failure(key), &failure_record_from_json);
}

std::optional<ImageRecord> RecordReader::image(std::string_view record) const {
  return read_record(*files_, state_->built(record), &image_record_from_json);
}

std::optional<ImageRecord> RecordReader::find_image(
    const std::function<bool(const ImageRecord&)>& is_wanted) const {
  for (const std::string& record : files_->stems(state_->built_folder())) {
    auto found = read_record(*files_, state_->built_folder() / (record + ".json"), &image_record_from_json);
    if (found && is_wanted(*found)) return found;
  }
  return std::nullopt;
}

std::vector<ImageRecord> RecordReader::images_of(std::string_view key) const {
  std::vector<ImageRecord> images;
  const std::string beginning = std::string(key) + "-";  // as record_name() has it
  for (const std::string& record : files_->stems(state_->built_folder()))
    if (record.starts_with(beginning))
      if (auto found = image(record)) images.push_back(*std::move(found));
  return images;
}

std::optional<Descriptor> RecordReader::conversion(std::string_view key) const {
  try {
    return read_record(*files_, state_->conversion(key), &descriptor_from_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

sbom::RecipeOrigin RecordReader::recipe_origin(std::string_view plan) const {
  return read_record(*files_, state_->recipe_origin(plan), &sbom::recipe_origin_from_json)
      .value_or(sbom::RecipeOrigin{});
}

void RecordWriter::write(const StepRecord& record) const {
  files_->write(state_->step(record.key), to_json(record).dump(1));
}

void RecordWriter::write(const TestRecord& record) const {
  files_->write(state_->test(record.key), to_json(record).dump(1));
}

void RecordWriter::write(const FailureRecord& record) const {
  files_->write(state_->failure(record.key), to_json(record).dump(1));
}

void RecordWriter::forget_failure(std::string_view key) const { files_->remove_all(state_->failure(key)); }

void RecordWriter::remove_step(std::string_view key) const { files_->remove_all(state_->step(key)); }

void RecordWriter::remove_test(std::string_view key) const { files_->remove_all(state_->test(key)); }

void RecordWriter::write_image(std::string_view record, const ImageRecord& image) const {
  files_->write(state_->built(record), to_json(image).dump(1));
}

void RecordWriter::remove_image(std::string_view record) const { files_->remove_all(state_->built(record)); }

void RecordWriter::write_recipe_origin(std::string_view plan, const sbom::RecipeOrigin& origin) const {
  files_->write(state_->recipe_origin(plan), to_json(origin).dump(1) + "\n");
}

void RecordWriter::write_conversion(std::string_view key, const Descriptor& sif) const {
  files_->write(state_->conversion(key), to_json(sif).dump());
}

}  // namespace kiln
