// Build stages that have another base than their image.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/reading.h"
#include "factory/import/import_parts.h"

namespace kiln {
namespace {

// "nvidia/cuda" and "11.0-devel" of "nvidia/cuda:11.0-devel"; a port's colon belongs to the repository.
std::pair<std::string, std::string> split_reference(const std::string& reference) {
  const std::size_t colon = reference.find(':', reference.rfind('/') + 1);
  if (colon == std::string::npos || reference.find('@') != std::string::npos) return {reference, ""};
  return {reference.substr(0, colon), reference.substr(colon + 1)};
}

bool same_repository(const std::string& one, const std::string& other) {
  return split_reference(one).first == split_reference(other).first;
}

// A build stage belongs to a method, and what it stands upon to a version of a base.
bool may_stand_apart(const ImportCell& one) {
  const LegacyImage& image = one.legacy;
  return image.parents.empty() && !image.copies.empty() &&
         same_repository(image.base.value, image.build_base.value) &&
         is_name(split_reference(image.build_base.value).second) &&
         is_name(split_reference(image.base.value).second) &&
         std::all_of(image.copies.begin(), image.copies.end(), [](const std::string& path) {
           return path.starts_with('/') && is_recipe_path(std::string_view(path).substr(1));
         });
}

// Both on one: what CUDA's devel builds runs on it; else the image's counts.
void share_one_base(LegacyImage& image) {
  const std::string build = image.build_base.value;
  const bool takes_build =
      same_repository(image.base.value, build) && build.find("devel") != std::string::npos;
  image.note(image.build_base.line, "build-base",
             fmt::format("the build stage starts from {}, the image from {}: both get the {}", build,
                         image.base.value, takes_build ? "build stage's" : "image's"));
  if (takes_build) image.base.value = build;
  image.build_base = {};
}

}  // namespace

void settle_build_bases(std::vector<ImportCell>& cells) {
  std::map<std::string, int> of_method;
  std::map<std::string, std::set<std::string>>
      builds_on;  // base → what build stages of its images stand upon
  for (const ImportCell& one : cells) {
    ++of_method[one.cell.framework + " " + one.cell.method];
    const LegacyImage& image = one.legacy;
    if (!image.build_body.empty())
      builds_on[image.base.value].insert(image.build_base.value.empty() ? image.base.value
                                                                        : image.build_base.value);
  }
  for (ImportCell& one : cells) {
    const std::string& build = one.legacy.build_base.value;
    if (build.empty()) continue;
    const bool alone = of_method[one.cell.framework + " " + one.cell.method] == 1;
    const bool agreed = builds_on[one.legacy.base.value].size() == 1 &&
                        (!builds_on.contains(build) || builds_on[build] == std::set{build});
    if (!alone || !agreed || !may_stand_apart(one)) share_one_base(one.legacy);
  }
}

}  // namespace kiln
