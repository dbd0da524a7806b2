#include "factory/state/state_names.h"

#include <algorithm>

#include "factory/record/image_blobs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

using Blobs = std::optional<std::vector<SizedBlob>>;

// What a packaged image promises, as its record and the manifests that this names have it.
Blobs promised_by_image(const std::string& record, const StatePaths& state, const FileSystem& files) {
  return unless_error([&]() -> Blobs {  // a damaged record promises nothing
    auto image = RecordReader(state, files).image(record);
    if (!image || image->external()) return std::nullopt;
    std::vector<SizedBlob> promised;
    for (const ImageBlob& blob : blobs_of(*image, BlobStore::reading(state.store()))) {
      if (!blob.damage.empty() && blob.size == 0) return std::nullopt;  // a manifest that cannot be read
      promised.push_back({sum_of_hex(blob.digest.hex()), blob.size});
    }
    return promised;
  });
}

// The layers that a step made itself: those below are promised by others.
Blobs promised_by_step(const std::string& key, const StatePaths& state, const FileSystem& files) {
  return unless_error([&]() -> Blobs {
    auto step = RecordReader(state, files).step(key);
    if (!step) return std::nullopt;
    std::vector<SizedBlob> promised;
    for (const BuiltLayer& layer : step->chain.layers)
      if (layer.step == key) promised.push_back({sum_of_hex(layer.blob.digest.hex()), layer.blob.size});
    return promised;
  });
}

// A test makes no blob: its record alone has to be whole.
Blobs promised_by_test(const std::string& key, const StatePaths& state, const FileSystem& files) {
  return unless_error([&] { return RecordReader(state, files).test(key) ? Blobs(std::in_place) : Blobs(); });
}

}  // namespace

StateNames::StateNames(const StatePaths& state, const FileSystem& files)
    : state_(&state),
      files_(&files),
      images_(
          state.built_folder(), state.image_blobs(),
          [&](const std::string& name) { return promised_by_image(name, state, files); }, state.store()),
      steps_(
          state.step_folder(), state.step_blobs(),
          [&](const std::string& key) { return promised_by_step(key, state, files); }, state.store()),
      tests_(
          state.test_folder(), state.step_blobs().replace_filename("tests"),
          [&](const std::string& key) { return promised_by_test(key, state, files); }, state.store()) {}

void StateNames::keep(FileSystem& files) {
  images_.keep(files);
  steps_.keep(files);
  tests_.keep(files);
}

bool StateNames::has_image_record(std::string_view record_name) {
  return files_->exists(state_->built(record_name));
}

bool StateNames::has(std::optional<NameSet>& names, const fs::path& file) {
  if (!names) names.emplace(files_->list(file.parent_path()));
  std::string_view path = file.native();
  return names->contains(path.substr(path.rfind('/') + 1));
}

void StateNames::look_ahead() {
  images_.look_ahead();
  tests_.look_ahead();
}

bool StateNames::has_test(const Sha256& key) {
  std::string hex;
  append_hex(hex, key);
  return tests_.is_whole(hex);
}

bool StateNames::is_built(const ImageSpec& spec) {
  return is_packaged(record_name(spec), spec.repository, spec.immutable_tag) &&
         std::ranges::all_of(spec.tests, [&](const Step& test) { return has_test(test.key); });
}

bool StateNames::is_built(const ResolvedImage& image, const StepTable& steps) {
  if (!is_packaged(image)) return false;
  const std::vector<StepTable::Number> tests = image.tests();
  return std::ranges::all_of(tests, [&](StepTable::Number test) { return has_test(steps.key(test)); });
}

bool StateNames::is_failing(const ResolvedImage& image, const StepTable& steps) {
  const std::vector<StepTable::Number> tests = image.tests();
  return std::ranges::any_of(tests, [&](StepTable::Number test) {
    return !has_test(steps.key(test)) && has_failure(steps.hex(test));
  });
}

bool StateNames::is_packaged(std::string_view record_name, const std::string& repository,
                             std::string_view immutable_tag) {
  if (!images_.is_whole(record_name)) return false;
  auto found = layouts_.find(repository);
  if (found == layouts_.end())
    found = layouts_.emplace(repository, NameSet(files_->list(state_->layouts(repository)))).first;
  return found->second.contains(immutable_tag);
}

}  // namespace kiln
