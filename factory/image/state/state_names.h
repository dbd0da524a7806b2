// What the state folder has, found by one look into each of its folders: for those who ask of many images.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/effects.h"
#include "image/state/state.h"
#include "resolve/resolve.h"

namespace kiln {

// Names in order, in little more space than their bytes.
class NameSet {
 public:
  NameSet() = default;
  explicit NameSet(const std::vector<std::string>& sorted);
  bool contains(std::string_view name) const;

 private:
  std::string_view at(std::size_t index) const;
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

// Each folder is read when something of it is first asked for; what comes later is not seen.
class StateNames {
 public:
  // REQUIRES: both outlive this.
  StateNames(const StatePaths& state, const FileSystem& files) : state_(&state), files_(&files) {}

  // Whether an image is built, for everyone who asks: its record and its layout are there. Whether it has
  // every format that the site wants by now is another question (lacks_format()).
  bool is_built(const ImageSpec& spec) {
    return is_built(record_name(spec), spec.repository, spec.immutable_tag);
  }
  bool is_built(const ResolvedImage& image) {
    return is_built(image.record_name(), image.repository(), image.immutable_tag());
  }
  // The same by its names: record_name() of the image, repository and immutable tag.
  bool is_built(std::string_view record_name, const std::string& repository, std::string_view immutable_tag);
  bool has_step(std::string_view key) { return has(steps_, state_->step(key)); }
  bool has_test(std::string_view key) { return has(tests_, state_->test(key)); }
  bool has_failure(std::string_view key) { return has(failures_, state_->failure(key)); }

 private:
  bool has(std::optional<NameSet>& names, const fs::path& file);

  const StatePaths* state_;
  const FileSystem* files_;
  std::optional<NameSet> built_;
  std::optional<NameSet> steps_;
  std::optional<NameSet> tests_;
  std::optional<NameSet> failures_;
  std::map<std::string, NameSet> layouts_;  // by repository
};

}  // namespace kiln
