// The catalogues of this repository, planned once for all tests of a program.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln::testing {

inline const RecipeBook& repository_recipes() {
  static const RecipeBook recipes =
      RecipeBook::read(RealFileSystem(), {fs::path(KILN_SOURCE_DIR) / "recipes"});
  return recipes;
}

inline BuildPlan plan_catalogue(const std::string& name) {
  RealFileSystem files;
  fs::path source = KILN_SOURCE_DIR;
  TargetBook targets = TargetBook::read(files, source / "matrix/targets", archspec());
  return plan_matrix(read_matrix(files, source / "matrix" / (name + ".json")),
                     {repository_recipes(), targets, archspec()});
}

inline const BuildPlan& paper_plan() {
  static const BuildPlan plan = plan_catalogue("paper");
  return plan;
}

inline const BuildPlan& current_plan() {
  static const BuildPlan plan = plan_catalogue("current");
  return plan;
}

inline const ComponentUse& part_of_kind(const ImageSpec& spec, Kind kind) {
  for (const ComponentUse& use : spec.components)
    if (use.kind == kind) return use;
  throw std::out_of_range("no component of kind " + std::string(name_of(kind)));
}

// The fact of the component that an image uses; "" when it has none.
inline std::string fact_of(const ComponentUse& use, const std::string& name) {
  const Recipe* recipe = repository_recipes().find(use.kind, use.name);
  auto found = recipe->find_version(use.version)->facts.find(name);
  return found == recipe->find_version(use.version)->facts.end() ? "" : found->second;
}

// True when the cell has all these values.
inline bool has_axes(const AxisValues& cell, const AxisValues& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& axis) {
    auto found = cell.find(axis.first);
    return found != cell.end() && found->second == axis.second;
  });
}

}  // namespace kiln::testing
