// The records of a state folder on disk: each kind is read and written here, and nowhere else. Names are
// StatePaths', contents records.h's and ImageRecord's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/record/image_record.h"
#include "factory/sbom/provenance.h"
#include "factory/state/record_types.h"
#include "factory/state/state.h"

namespace kiln {

// Each is nullopt when there is no such record, and throws Error(input) that names the file for a damaged
// one.
class RecordReader {
 public:
  // REQUIRES: both outlive this.
  RecordReader(const StatePaths& state, const FileSystem& files) : state_(&state), files_(&files) {}

  std::optional<StepRecord> step(std::string_view key) const;
  std::optional<TestRecord> test(std::string_view key) const;
  // Of a step, or of the image with that key.
  std::optional<FailureRecord> failure(std::string_view key) const;
  // Of an image that is packaged; `record`: its record_name().
  std::optional<ImageRecord> image(std::string_view record) const;
  // The first, in the order of their names, of the packaged images that `is_wanted`.
  std::optional<ImageRecord> find_image(const std::function<bool(const ImageRecord&)>& is_wanted) const;
  // The packaged images with this key (64 hex digits), whatever they are called, in the order of their names.
  std::vector<ImageRecord> images_of(std::string_view key) const;
  // The SIF that was made before. nullopt for a damaged record, too: it is made anew.
  std::optional<Descriptor> conversion(std::string_view key) const;
  // Of the plan of that name; empty in a state folder of an older kiln.
  sbom::RecipeOrigin recipe_origin(std::string_view plan) const;

 private:
  const StatePaths* state_;
  const FileSystem* files_;
};

// Whole file or nothing, durably. Each throws Error(store).
class RecordWriter {
 public:
  // REQUIRES: both outlive this.
  RecordWriter(const StatePaths& state, FileSystem& files) : state_(&state), files_(&files) {}

  void write(const StepRecord& record) const;
  void write(const TestRecord& record) const;
  void write(const FailureRecord& record) const;
  void forget_failure(std::string_view key) const;  // of the last attempt; none is fine
  void remove_step(std::string_view key) const;     // so that it is run again
  void remove_test(std::string_view key) const;     // the same
  void write_image(std::string_view record, const ImageRecord& image) const;
  void remove_image(std::string_view record) const;
  void write_recipe_origin(std::string_view plan, const sbom::RecipeOrigin& origin) const;
  void write_conversion(std::string_view key, const Descriptor& sif) const;

 private:
  const StatePaths* state_;
  FileSystem* files_;
};

}  // namespace kiln
