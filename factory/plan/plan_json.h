// JSON of the stages, for `kiln show`, and of a whole plan, for plan.json in the state folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/plan/build_plan.h"
#include "factory/plan/cell_patterns.h"

namespace kiln {

Json to_json(const ImageRequest& request);
Json to_json(const ImageSpec& spec);
Json to_json(const Step& step);
Json to_json(const ExcludedCell& cell);
Json to_json(const FlagOrigin& flag);
Json to_json(const BrokenCell& cell);

// The text of plan.json, with each cell and each step on a separate line (plan_json.cc draws it).
std::string plan_text(const BuildPlan& plan);
// Of these cells alone, and the steps that they need.
std::string plan_text(const BuildPlan& plan, const ChosenCells& cells);

// Contents of a plan.json: its images one by one, each complete.
struct PlanDocument {
  std::string name;
  std::vector<ImageSpec> images;
  std::map<std::string, Step> steps;  // by key, tests included
  std::vector<ExcludedCell> excluded;
  std::map<std::string, std::string> broken;  // cell id → its error in one line
  std::vector<std::string> warnings;
};

// Throws Error(input), also for a step whose key is not the hash of its inputs.
PlanDocument plan_from_json(const JsonDocument& document);

}  // namespace kiln
