// What `kiln plan` prints: a table, a block a cell, or JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/standing.h"
#include "plan/cell_choice.h"

namespace kiln {

// The chosen part of a plan and where it stands.
struct PlanView {
  const BuildPlan& plan;
  const CellChoice& choice;
  const std::vector<Standing>& rows;  // of choice.images
  const StateView& state;
  Sharing sharing;
};

// How many cells stand how.
struct PlanCounts {
  std::size_t built = 0;
  std::size_t to_build = 0;
  std::size_t to_retag = 0;
  std::size_t to_package = 0;
  std::size_t excluded = 0;
  void add(CellState state);
};
// "5 images: 3 built, 2 to build; 1 excluded", and what sharing saves, in two lines.
std::string plan_summary(const PlanCounts& counts, const Sharing& sharing);
std::string short_reason(const std::vector<std::string>& why);  // the first, and how many more
std::string axes_text(const AxisValues& axes);

std::string plan_table(const PlanView& view);
// One block a cell: image, key, every reason, every step.
std::string plan_blocks(const PlanView& view);
// Schema: `kiln schema plan`.
Json plan_document(const PlanView& view);

}  // namespace kiln
