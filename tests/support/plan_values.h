// What a stage has found, as plain values: for tests that look at all of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"

namespace kiln::testing {

inline std::vector<ImageRequest> requests_of(const Expansion& expansion) {
  std::vector<ImageRequest> requests;
  for (std::size_t cell = 0; cell < expansion.size(); ++cell) requests.push_back(expansion.request(cell));
  return requests;
}

// Of an Expansion, a Resolution or a BuildPlan.
template <typename Cells>
std::vector<ExcludedCell> excluded_of(const Cells& cells) {
  std::vector<ExcludedCell> excluded;
  for (std::size_t number = 0; number < cells.excluded(); ++number)
    excluded.push_back(cells.excluded(number));
  return excluded;
}

// Of a Resolution or a BuildPlan.
template <typename Images>
std::vector<ImageSpec> specs_of(const Images& images) {
  std::vector<ImageSpec> specs;
  for (std::size_t number = 0; number < images.size(); ++number) specs.push_back(images.image(number).spec());
  return specs;
}

// Steps and tests by key.
inline std::map<std::string, Step> steps_of(const BuildPlan& plan) {
  std::map<std::string, Step> steps;
  for (StepTable::Number step : StepUses(plan, all_images(plan)).steps())
    steps.emplace(plan.steps().hex(step), plan.steps().step(step));
  return steps;
}

inline std::vector<std::string> keys_of(const std::vector<const Step*>& steps) {
  std::vector<std::string> keys;
  for (const Step* step : steps) keys.push_back(step->key);
  return keys;
}

}  // namespace kiln::testing
