#include "plan/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "plan/component_value.h"

namespace kiln {
namespace {

constexpr StepStore::Number kNone = StepStore::kNone;

StepStore::Number last_of(const SketchedStage& stage) {
  return stage.steps.empty() ? kNone : stage.steps.back().step;
}

bool is_same(const Chosen& one, const Chosen& other) {
  return one.version == other.version && one.method == other.method;
}

std::string identity(const Chosen& chosen) {
  return fmt::format("{}@{}:{}", path_of(*chosen.component), chosen.version->version.text(),
                     chosen.method->name);
}

}  // namespace

void StageBuilder::build(const StageMemory& memory, const SharedTarget& target, SharedChoice& choice,
                         ImageSketch& sketch) {
  StageBuilder builder(memory, target, choice, sketch);
  SketchedStage image{"image", {}};
  Laid laid;
  for (const Chosen& chosen : choice.choice) builder.lay(image, chosen, laid);
  sketch.stages.push_back(std::move(image));
  builder.lay_tests();
}

void StageBuilder::lay_base(SketchedStage& stage, const Chosen& base) {
  if (base.method->rootfs.empty()) return add_step(stage, StepRole::base, base, nullptr, kNone);
  add_script(stage, StepRole::base, {&base, &choice_->choice, {}, FlagPolicy::required});
}

void StageBuilder::lay(SketchedStage& stage, const Chosen& chosen, Laid& laid) {
  const Method& method = *chosen.method;
  if (chosen.component->kind == Kind::base) lay_base(stage, chosen);
  if (method.build) add_step(stage, StepRole::copy, chosen, nullptr, build_stage(chosen));
  // After a build, the flags were the build's business: the script in the image may lack a compiler.
  FlagPolicy flags = method.build ? FlagPolicy::optional : FlagPolicy::required;
  if (!method.script.empty()) add_script(stage, StepRole::install, {&chosen, &choice_->choice, laid, flags});
  laid.push_back(&chosen);
}

const ScriptValues* StageBuilder::values_of(const ScriptPlace& place) {
  const ScriptValues* values = memory_->values.of(place, target_->target, *choice_->wishes.optimise);
  for (const FlagOrigin& flag : values->flags) {
    auto same = [&](const FlagOrigin* other) { return *other == flag; };
    if (std::none_of(sketch_->flags.begin(), sketch_->flags.end(), same)) sketch_->flags.push_back(&flag);
  }
  sketch_->cell_optimise_used = sketch_->cell_optimise_used || values->cell_optimise_used;
  return values;
}

void StageBuilder::add_script(SketchedStage& stage, StepRole role, const ScriptPlace& place) {
  add_step(stage, role, *place.self, values_of(place), kNone);
}

void StageBuilder::add_step(SketchedStage& stage, StepRole role, const Chosen& chosen,
                            const ScriptValues* values, StepStore::Number from) {
  const StepPattern& pattern = memory_->steps.pattern(role, chosen, nullptr, target_->architecture);
  StepStore::Number parent = last_of(stage);
  StepStore::Number step = memory_->steps.add(pattern, values, parent, from);
  stage.steps.push_back({step, &pattern, values, parent, from});
}

const Choice& StageBuilder::tools_of(const Chosen& chosen) {
  std::pair key(chosen.version, chosen.method);
  auto found = choice_->tools.find(key);
  if (found != choice_->tools.end()) return found->second;
  const Target& target = target_->target;
  NeedSolver solver(memory_->input.recipes, target, choice_->wishes.method, choice_->choice);
  Choice tools = solver.complete({choice_->choice.front()}, build_requirements_of(chosen, target));
  for (Chosen& tool : tools) tool.automatic = true;  // of equal rank here: layered by kind and name
  return choice_->tools.emplace(key, layered(tools, target)).first->second;
}

StepStore::Number StageBuilder::build_stage(const Chosen& chosen) {
  for (const Built& built : built_)
    if (is_same(*built.chosen, chosen)) return built.last_step;
  auto same = [&](const Chosen* other) { return is_same(*other, chosen); };
  if (std::any_of(open_.begin(), open_.end(), same)) {
    std::string chain;
    for (const Chosen* one : open_) chain += identity(*one) + " → ";
    throw Error(ExitCode::input, chosen.method->where,
                fmt::format("{0} is needed to build itself: {1}{0}", identity(chosen), chain));
  }
  open_.push_back(&chosen);
  SketchedStage stage;
  Laid laid;
  for (const Chosen& tool : tools_of(chosen)) lay(stage, tool, laid);
  add_script(stage, StepRole::build, {&chosen, &choice_->choice, laid, FlagPolicy::required});
  open_.pop_back();
  stage.name = stage_name(chosen);
  StepStore::Number last = last_of(stage);
  sketch_->stages.push_back(std::move(stage));
  built_.push_back({&chosen, last});
  return last;
}

std::string StageBuilder::stage_name(const Chosen& chosen) const {
  std::string name = "build-" + chosen.component->name;
  auto taken = [&](const SketchedStage& stage) { return stage.name == name; };
  if (std::none_of(sketch_->stages.begin(), sketch_->stages.end(), taken)) return name;
  return fmt::format("{}-{}-{}-{}", name, name_of(chosen.component->kind), chosen.version->version.text(),
                     chosen.method->name);
}

void StageBuilder::lay_tests() {
  for (const Chosen& chosen : choice_->choice)
    for (const SmokeTest& test : chosen.component->tests)
      if (holds(test.when, chosen.version->version, target_->target)) lay_test(chosen, test);
}

void StageBuilder::lay_test(const Chosen& chosen, const SmokeTest& test) {
  StepStore::Number last = sketch_->last_step();
  const StepPattern& pattern = memory_->steps.pattern(StepRole::test, chosen, &test, {});
  const ScriptValues* values = values_of({&chosen, &choice_->choice, {}, FlagPolicy::none});
  text_.clear();
  append_merged_json(text_, choice_->environment, values->parameters);
  StepStore::Number step = memory_->steps.add_single(pattern, text_, last);
  sketch_->tests.push_back({step, &pattern, values, last, kNone});
}

}  // namespace kiln
