// Compares two plans cell by cell: the effect of a change of a catalogue, its recipes or its lockfile. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/plan/plan_json.h"
#include "factory/recipe/lockfile.h"

namespace kiln {

// In order of what they cost. `retest`: a test changed, the image is built already. `retag`: only name or
// labels are new.
enum class CellChange { added, removed, changed, retest, retag };
std::string_view name_of(CellChange change);  // "added", "removed", "changed", "re-test", "re-tag"

struct CellDifference {
  std::string id;
  std::string image;  // repository:tag, as it is now; of a removed cell as it was
  CellChange change = CellChange::changed;
  std::vector<std::string> why;  // one line a cause, the first is the root of it
};

struct PlanDifference {
  std::vector<CellDifference> cells;  // in the order of the new plan, removed ones last
  std::size_t unchanged = 0;

  std::size_t count(CellChange change) const;
};

// The images of a plan one after the other, whether it was made or read.
struct PlanImages {
  std::size_t size = 0;
  std::function<ImageSpec(std::size_t number)> image;
  std::vector<ExcludedCell> excluded;
  std::map<std::string, std::string> broken;  // cell id → its error in one line
};
// Refer to their arguments.
PlanImages images_of(const BuildPlan& plan);
PlanImages images_of(const PlanDocument& plan);

// Cells are the same when their ids are. `moved`: as of explain_image. A night's report is made of the last
// plan, the new one and the changes of the lockfile.
PlanDifference compare_plans(const PlanImages& before, const PlanImages& now,
                             const std::vector<LockChange>& moved = {});

// {"cells": [{"id": …, "image": …, "change": …, "why": […]}, …], "summary": {"added": 1, …, "unchanged": 5}}
Json to_json(const PlanDifference& difference);

}  // namespace kiln
