#include "plan/build_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "plan/group_cells.h"

namespace kiln {
namespace {

// Target names are checked where they are written, before the first cell is resolved.
void check_targets(const Matrix& matrix, const TargetBook& targets) {
  auto check = [&](const std::string& value, SourceLocation where, const std::string& key) {
    where.pointer += "/" + key;
    if (value != "none") targets.get(value, where);
  };
  for (const MatrixGroup& group : matrix.groups) {
    for (const Axis& axis : group.axes) {
      if (axis.name != "target") continue;
      for (std::size_t index = 0; index < axis.values.size(); ++index)
        check(axis.values[index], axis.where, std::to_string(index));
    }
    for (const Partial& include : group.include) {
      auto found = include.values.find("target");
      if (found != include.values.end()) check(found->second, include.where, "target");
    }
  }
}

void refuse_same_tag(const ImageSpec& one, const ImageSpec& other) {
  throw Error(
      ExitCode::input, other.request.where,
      fmt::format("two cells have the tag {}:{}: '{}' ({}) and '{}' ({})", one.repository, one.tag,
                  one.request.id, place(one.request.where), other.request.id, place(other.request.where)),
      "exclude one, or say the version or method on the axis, such as openblas@0.3.29:source");
}

// Adds the image's steps to the plan's, where equal ones become one.
PlannedImage planned(ImageSpec spec, BuildPlan& plan) {
  PlannedImage image;
  std::set<std::string> seen;
  for (const Stage& stage : spec.stages) {
    for (const Step& step : stage.steps) {
      if (!seen.insert(step.key).second) continue;
      ++plan.steps_before_sharing;
      image.steps.push_back(step.key);
      plan.steps.try_emplace(step.key, step);
    }
  }
  for (const Step& test : spec.tests) {
    ++plan.steps_before_sharing;
    image.tests.push_back(test.key);
    plan.steps.try_emplace(test.key, test);
  }
  image.spec = std::move(spec);
  return image;
}

}  // namespace

BuildPlan make_plan(const std::string& name, std::vector<ImageSpec> specs, std::vector<ExcludedCell> excluded,
                    std::vector<std::string> warnings) {
  BuildPlan plan;
  plan.name = name;
  plan.excluded = std::move(excluded);
  plan.warnings = std::move(warnings);
  std::unordered_map<std::string, std::size_t> by_tag;
  for (ImageSpec& spec : specs) {
    auto [found, added] = by_tag.try_emplace(spec.repository + ":" + spec.tag, plan.images.size());
    if (!added) refuse_same_tag(plan.images[found->second].spec, spec);
    plan.images.push_back(planned(std::move(spec), plan));
  }
  return plan;
}

BuildPlan plan_matrix(const Matrix& matrix, const ResolveInput& input) {
  check_targets(matrix, input.targets);
  Expansion expansion = expand(matrix, input.recipes);
  std::vector<ImageSpec> specs;
  for (const ImageRequest& request : expansion.requests) {
    auto resolved = resolve(request, input);
    if (auto* spec = std::get_if<ImageSpec>(&resolved)) {
      specs.push_back(std::move(*spec));
    } else {
      expansion.excluded.push_back(std::move(std::get<ExcludedCell>(resolved)));
    }
  }
  return make_plan(matrix.name, std::move(specs), std::move(expansion.excluded),
                   std::move(expansion.warnings));
}

}  // namespace kiln
