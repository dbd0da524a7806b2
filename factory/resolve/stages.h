// The steps of an image, laid upon each other. Used by resolve only.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "factory/resolve/choose.h"
#include "factory/resolve/image_table.h"

namespace kiln {

struct LaidSteps {
  StepTable::Number last = StepTable::kNone;  // of the image
  std::vector<StepTable::Number> tests;
  bool cell_optimise_used = false;  // a script was given something that the cell's wish may change
};

// What was found for all cells of equal choices, whatever their targets, as long as these answer alike.
struct Solution {
  Choice choice;                             // in layering order
  const std::string* reason = nullptr;       // why this combination cannot be; null when it can
  const Error* fault = nullptr;              // why it is broken; null when it is not
  std::string method;                        // of the cell
  const Optimise* optimise = nullptr;        // of the cell; never null in a solution that can be
  const Composition* composition = nullptr;  // nor this
  // Of what is built in a stage of its own: the tools of that stage, in layering order.
  std::map<std::pair<const ComponentVersion*, const Method*>, Choice> tools;
};

// Adds the steps of the image and of its build stages to the table, then its tests. `solution` learns the
// tools of its build stages. Throws Error(input), Unsolvable.
LaidSteps lay_steps(const ResolveInput& input, ImageTable& table, const ResolvedTarget& target,
                    Solution& solution);

}  // namespace kiln
