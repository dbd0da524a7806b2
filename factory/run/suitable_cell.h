// suitable_cell: plans + question → the cell whose image would be the answer, for a question that the index
// has none to. Each cell is judged as the image that it would become, by select(). Pure, except for the
// functions that it gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "registry/select/select.h"

namespace kiln {

// The question, and what is known already.
struct CellQuestion {
  const ImageQuery& query;
  const Host& host;
  const Microarchitectures& cpus;
  const std::vector<IndexEntry>& published;  // bits that are retired or failing there stay so, built again
  bool with_sif = true;                      // images are packaged with one
  // The record of the cell with all findings, if it is packaged already; else nothing.
  std::function<std::optional<ImageRecord>(const ResolvedImage& cell)> packaged;
  // A fact of the recipe's version; "" for none. Without it no cell has facts.
  std::function<std::string(const ComponentUse& component, const std::string& fact)> fact{};
};

struct PlanCell {
  std::size_t plan = 0;     // of those that are asked
  std::uint32_t image = 0;  // of the plan
};

struct CellAnswer {
  std::optional<PlanCell> cell;      // nothing: no cell would do
  std::vector<std::string> reasons;  // why this one, as a Selection has them
  std::optional<PlanCell> nearest;   // where none would do: nothing when there is none of the application
  std::string failed;                // … and the first clause that it fails
};

// An image that two plans have counts once, as that of the first. Throws Error(input) as select_image() does.
CellAnswer suitable_cell(const std::vector<const BuildPlan*>& plans, const CellQuestion& question);

// For CellQuestion::fact.
std::string fact_of(const ComponentUse& component, const std::string& fact, const RecipeBook& recipes);

// The first clause that the image of a cell fails, now that it is packaged; "" when it would be an answer.
std::string unfit(const ImageRecord& packaged, const CellQuestion& question);

}  // namespace kiln
