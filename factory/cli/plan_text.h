// The output of `kiln plan`: a block for each cell, and the words of its tables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/plan/cell_patterns.h"
#include "factory/run/cell_state.h"
#include "factory/run/forecast.h"

namespace kiln {

// The chosen part of a plan, and the state folder.
struct PlanView {
  const BuildPlan& plan;
  const ChosenCells& cells;
  const StateView& state;
  std::optional<ExpectedBuild> expected{};
};

// Number of cells in each state.
using PlanCounts = std::map<CellState, std::size_t>;
// "5 images: 3 built, 2 to build; 1 excluded", how long that is expected to take where it is known, and what
// sharing saves, a line each.
std::string plan_summary(PlanCounts counts, const PlanView& view, const Sharing& sharing);
std::string_view word_for(NodeState state);                     // of a step: "done", "to run", "failed"
std::string short_reason(const std::vector<std::string>& why);  // the first, and how many more
inline constexpr const char* kBrokenState = "broken";           // of a BrokenCell
std::string axes_text(const AxisValues& axes);

// The time that the chosen cells save by sharing steps; nothing is computed if they share more than `most`.
Sharing sharing_of(const PlanView& view, std::size_t most = SIZE_MAX);

// One block a cell: image, key, every reason, every step.
std::string plan_blocks(const PlanView& view);

}  // namespace kiln
