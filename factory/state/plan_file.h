// plans/<name>.json in the state folder: one cell or step of it is read without the others.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "factory/base/effects.h"
#include "factory/plan/plan_json.h"

namespace kiln {

// False for a plan that was cut off, as by a disk that was full.
bool is_whole_plan(std::string_view text);

class PlanFile {
 public:
  // nullopt: there is no such file. Errors in it show when it is read.
  static std::optional<PlanFile> open(const FileSystem& files, const fs::path& file);

  // This step, or the image of this cell; nullopt if the plan does not have it. Throws Error(store) if that
  // part of the plan is damaged or of another version of kiln.
  std::optional<Step> step(std::string_view key) const;
  std::optional<ImageSpec> image(std::string_view id) const;

  // Throws Error(store) unless it is JSON to its end and has every step of its cells. Another letter in a
  // text is not found.
  void prove() const;

 private:
  PlanFile(std::string bytes, fs::path file);
  using Lines = std::unordered_map<std::string_view, std::string_view>;  // both are parts of bytes_
  PlanDocument read(std::string_view cell, const std::vector<std::string>& keys) const;

  fs::path file_;
  std::unique_ptr<const std::string> bytes_;  // stays where it is when this is moved
  Lines steps_;                               // by key
  Lines cells_;                               // by id, as JSON writes it
};

}  // namespace kiln
