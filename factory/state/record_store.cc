#include "factory/state/record_store.h"

#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_fields.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr auto kFailures = enum_names<FailureClass>({{FailureClass::input, "input"},
                                                     {FailureClass::build, "build"},
                                                     {FailureClass::infrastructure, "infrastructure"},
                                                     {FailureClass::policy, "policy"}});

FailureClass failure_from(const JsonNode& node) {
  std::string name = node.string();
  if (auto failure = kFailures.find(name)) return *failure;
  node.fail("expected input, build, infrastructure or policy, found '" + name + "'");
}

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

std::string_view name_of(FailureClass failure) { return kFailures.of(failure); }
std::optional<FailureClass> failure_class_named(std::string_view name) { return kFailures.find(name); }

template <typename Fields>
void describe(Fields& fields, BuiltLayer& layer) {
  fields.refuse_others(layer);
  fields.must("blob", layer.blob, descriptor_from_json);
  fields.must("diff_id", layer.diff_id, digest_in);
  fields.must("step", layer.step);
  fields.must("created_by", layer.created_by);
}

template <typename Fields>
void describe(Fields& fields, StepRecord& record) {
  fields.refuse_others(record);
  fields.must("key", record.key);
  fields.must("layers", record.chain.layers);
  fields.may("base", record.chain.base, image_config_from_json);
  fields.must("seconds", record.seconds);
  fields.may("fetched_from", record.origin.place);
  fields.may("signed_by", record.origin.signer);
}

template <typename Fields>
void describe(Fields& fields, TestRecord& record) {
  fields.refuse_others(record);
  fields.must("key", record.key);
  fields.must("seconds", record.seconds);
  fields.must("last_line", record.last_line);
  fields.may("host", record.host);
  fields.may("cpu", record.cpu);
  fields.may("taken", record.taken);
  fields.may("accelerators", record.accelerators);
  fields.may("kernel", record.kernel);
  fields.may("emulator", record.emulator);
  fields.may("fetched_from", record.origin.place);
  fields.may("signed_by", record.origin.signer);
}

template <typename Fields>
void describe(Fields& fields, FailureRecord& record) {
  fields.refuse_others(record);
  fields.must("key", record.key);
  fields.must("failure", record.failure, failure_from);
  fields.must("what", record.what);
  fields.must("hint", record.hint);
  fields.must("log", record.log);
  fields.must("exit_code", record.exit_code);
  fields.must("seconds", record.seconds);
  fields.may("tries", record.tries);
}

Json to_json(const StepRecord& record) { return fields_of(record); }
Json to_json(const TestRecord& record) { return fields_of(record); }
Json to_json(const FailureRecord& record) { return fields_of(record); }

StepRecord step_record_from_json(const JsonNode& node) { return read_as<StepRecord>(node); }
TestRecord test_record_from_json(const JsonNode& node) { return read_as<TestRecord>(node); }
FailureRecord failure_record_from_json(const JsonNode& node) { return read_as<FailureRecord>(node); }

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
  return unless_error([&] { return read_record(*files_, state_->conversion(key), &descriptor_from_json); });
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
