#include "plan/build_plan.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "plan/group_cells.h"
#include "plan/planner.h"

namespace kiln {
namespace {

void refuse_same_tag(const ImageSpec& one, const ImageSpec& other) {
  throw Error(
      ExitCode::input, other.request.where,
      fmt::format("two cells have the tag {}:{}: '{}' ({}) and '{}' ({})", one.repository, one.tag,
                  one.request.id, one.request.where.text(), other.request.id, other.request.where.text()),
      "exclude one, or say the version or method on the axis, such as openblas@0.3.29:source");
}

}  // namespace

PlannedImage planned(ImageSpec spec) {
  PlannedImage image;
  std::set<std::string_view> seen;  // build stages begin alike
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps)
      if (seen.insert(step.key).second) image.steps.push_back(step.key);
  for (const Step& test : spec.tests) image.tests.push_back(test.key);
  image.spec = std::move(spec);
  return image;
}

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
    PlannedImage image = planned(std::move(spec));
    plan.steps_before_sharing += image.steps.size() + image.tests.size();
    for (const Stage& stage : image.spec.stages)
      for (const Step& step : stage.steps) plan.steps.try_emplace(step.key, step);
    for (const Step& test : image.spec.tests) plan.steps.try_emplace(test.key, test);
    plan.images.push_back(std::move(image));
  }
  return plan;
}

BuildPlan plan_matrix(const Matrix& matrix, const ResolveInput& input) {
  BuildPlan plan;
  plan.name = matrix.name;
  Planner planner(matrix, input);
  while (planner.next()) {
    for (Step& step : planner.new_steps()) {
      std::string key = step.key;
      plan.steps.emplace(std::move(key), std::move(step));
    }
    plan.images.push_back(planner.image());
  }
  plan.steps_before_sharing = planner.steps_before_sharing();
  for (std::size_t index = 0; index < planner.excluded(); ++index)
    plan.excluded.push_back(planner.excluded(index));
  plan.warnings = planner.warnings();
  return plan;
}

}  // namespace kiln
