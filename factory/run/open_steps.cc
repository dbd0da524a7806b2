#include "factory/run/open_steps.h"

#include "factory/run/untrusted_steps.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

bool has_whole_chain(const std::string& key, const StatePaths& state, const FileSystem& files) {
  try {
    const auto record = RecordReader(state, files).step(key);
    return record && seen_damage(record->chain, BlobStore::reading(state.store())).empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ClosedSteps closed_steps(const BuildPlan& plan, const ImageNumbers& images, StateNames& names,
                         const StatePaths& state, const FileSystem& files) {
  const StepTable& steps = plan.steps();
  auto lacks = [&](StepTable::Number step) {
    return step != StepTable::kNone && !names.has_step(steps.hex(step));
  };
  ClosedSteps closed;
  for (StepTable::Number step : StepUses(plan, images).steps()) {
    if (steps.pattern(step).kind == StepKind::test) continue;
    if (!lacks(steps.parent(step)) && !lacks(steps.from(step))) continue;
    const std::string key = steps.hex(step);
    if (names.has_step(key) && has_whole_chain(key, state, files)) closed.insert(steps.first(step));
  }
  return closed;
}

std::vector<StepTable::Number> open_steps(const BuildPlan& plan, const ImageNumbers& images,
                                          const ClosedSteps& closed) {
  const StepTable& steps = plan.steps();
  std::vector<StepTable::Number> all = StepUses(plan, images).steps();
  if (closed.empty()) return all;
  std::set<StepTable::Number> needed;
  std::vector<StepTable::Number> next;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    next.push_back(image.steps().back());
    for (StepTable::Number test : image.tests()) next.push_back(test);
  }
  while (!next.empty()) {
    const StepTable::Number step = next.back();
    next.pop_back();
    if (step == StepTable::kNone || !needed.insert(steps.first(step)).second) continue;
    if (closed.contains(steps.first(step))) continue;
    next.push_back(steps.parent(step));
    next.push_back(steps.from(step));
  }
  std::erase_if(all, [&](StepTable::Number step) { return !needed.contains(steps.first(step)); });
  return all;
}

}  // namespace kiln
