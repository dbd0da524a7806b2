#include "factory/state/record_store.h"

#include <nlohmann/json.hpp>

namespace kiln {
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
  for (const std::string& name : files_->list(state_->built_folder())) {
    if (!name.ends_with(".json")) continue;
    auto image = read_record(*files_, state_->built_folder() / name, &image_record_from_json);
    if (image && is_wanted(*image)) return image;
  }
  return std::nullopt;
}

std::vector<ImageRecord> RecordReader::images_of(std::string_view key) const {
  std::vector<ImageRecord> images;
  const std::string beginning = std::string(key) + "-";  // as record_name() has it
  for (const std::string& name : files_->list(state_->built_folder())) {
    if (!name.starts_with(beginning) || !name.ends_with(".json")) continue;
    auto image = read_record(*files_, state_->built_folder() / name, &image_record_from_json);
    if (image) images.push_back(*std::move(image));
  }
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
