#include <fmt/format.h>

#include <algorithm>

#include "factory/recipe/component_value.h"
#include "factory/resolve/image_resolver.h"

namespace kiln {
namespace {

constexpr StepTable::Number kNone = StepTable::kNone;

bool is_same(const Chosen& one, const Chosen& other) {
  return one.version == other.version && one.method == other.method;
}

std::string identity(const Chosen& chosen) {
  return fmt::format("{}@{}:{}", path_of(*chosen.component), chosen.version->version.text(),
                     chosen.method->name);
}

// A stage while it is laid.
struct OpenStage {
  const Choice* choice = nullptr;  // what it has once it is laid
  StepTable::Number last = kNone;
  std::vector<const Chosen*> laid;
};

class StageBuilder {
 public:
  StageBuilder(const ResolveInput& input, ImageTable& table, const ResolvedTarget& target, Solution& solution)
      : input_(&input), table_(&table), target_(&target), solution_(&solution) {}

  LaidSteps run() {
    OpenStage image{&solution_->choice, kNone, {}};
    for (const Chosen& chosen : solution_->choice) lay(image, chosen);
    out_.last = image.last;
    for (const Chosen& chosen : solution_->choice)
      for (const SmokeTest& test : chosen.component->tests)
        if (holds(test.when, chosen.version->version, target_->target)) lay_test(chosen, test);
    return std::move(out_);
  }

 private:
  void lay_base(OpenStage& stage, const Chosen& base) {
    if (base.method->rootfs.empty()) return add_step(stage, StepRole::base, base, nullptr, kNone);
    add_script(stage, StepRole::base, {&base, &solution_->choice, {}, FlagPolicy::required});
  }

  void lay(OpenStage& stage, const Chosen& chosen) {
    const Method& method = *chosen.method;
    if (chosen.component->kind == Kind::base) lay_base(stage, chosen);
    const StepTable::Number built = method.build ? build_stage(chosen) : kNone;
    if (method.build && !method.build->copy.empty()) add_step(stage, StepRole::copy, chosen, nullptr, built);
    // After a build, the flags were the build's business: the script in the image may lack a compiler.
    FlagPolicy flags = method.build ? FlagPolicy::optional : FlagPolicy::required;
    if (!method.script.empty())
      add_script(stage, StepRole::install, {&chosen, &solution_->choice, stage.laid, flags},
                 method.build && !method.build->mount.empty() ? built : kNone);
    stage.laid.push_back(&chosen);
  }

  void lay_test(const Chosen& chosen, const SmokeTest& test) {
    const StepPattern& pattern =
        table_->patterns.of(StepRole::test, chosen, &test, context_in(solution_->choice), {});
    const ScriptValues* values = values_of({&chosen, &solution_->choice, {}, FlagPolicy::none});
    out_.tests.push_back(
        table_->steps.add(pattern, values, &solution_->composition->environment, out_.last, kNone));
  }

  StepContext context_in(const Choice& stage) const { return {target_->target, solution_->choice, stage}; }

  const ScriptValues* values_of(const ScriptContext& script) {
    const ScriptValues* values = table_->values.of(script, target_->target, *solution_->optimise);
    out_.cell_optimise_used = out_.cell_optimise_used || values->cell_optimise_used;
    return values;
  }

  // `from`: the last step of the stage whose files the script sees.
  void add_script(OpenStage& stage, StepRole role, const ScriptContext& script,
                  StepTable::Number from = kNone) {
    add_step(stage, role, *script.self, values_of(script), from);
  }

  void add_step(OpenStage& stage, StepRole role, const Chosen& chosen, const ScriptValues* values,
                StepTable::Number from) {
    const StepPattern& pattern =
        table_->patterns.of(role, chosen, nullptr, context_in(*stage.choice), target_->architecture);
    stage.last = table_->steps.add(pattern, values, nullptr, stage.last, from);
  }

  const Choice& tools_of(const Chosen& chosen) {
    std::pair key(chosen.version, chosen.method);
    auto found = solution_->tools.find(key);
    if (found != solution_->tools.end()) return found->second;
    const Target& target = target_->target;
    NeedSolver solver(input_->recipes, target, solution_->method, solution_->choice);
    Choice tools =
        solver.complete({build_base(solution_->choice.front())}, build_requirements_of(chosen, target));
    for (Chosen& tool : tools) tool.automatic = true;  // of equal rank here: layered by kind and name
    return solution_->tools.emplace(key, layered(tools, target)).first->second;
  }

  static Chosen build_base(Chosen base) {
    if (base.version->build_on) base.version = base.component->find_version(base.version->build_on->version);
    return base;
  }

  // The last step of the stage in which the component is built, once an image.
  StepTable::Number build_stage(const Chosen& chosen) {
    for (const Built& built : built_)
      if (is_same(*built.chosen, chosen)) return built.last;
    refuse_circle(chosen);
    open_.push_back(&chosen);
    const Choice& tools = tools_of(chosen);
    OpenStage stage{&tools, kNone, {}};
    for (const Chosen& tool : tools) lay(stage, tool);
    add_script(stage, StepRole::build, {&chosen, &solution_->choice, stage.laid, FlagPolicy::required});
    open_.pop_back();
    built_.push_back({&chosen, stage.last});
    return stage.last;
  }

  void refuse_circle(const Chosen& chosen) const {
    auto same = [&](const Chosen* other) { return is_same(*other, chosen); };
    if (std::ranges::none_of(open_, same)) return;
    std::string chain;
    for (const Chosen* one : open_) chain += identity(*one) + " → ";
    throw Error(ExitCode::input, chosen.method->where,
                fmt::format("{0} is needed to build itself: {1}{0}", identity(chosen), chain));
  }

  struct Built {
    const Chosen* chosen;
    StepTable::Number last;
  };
  const ResolveInput* input_;
  ImageTable* table_;
  const ResolvedTarget* target_;
  Solution* solution_;
  LaidSteps out_;
  std::vector<Built> built_;
  std::vector<const Chosen*> open_;  // being built, outermost first
};

}  // namespace

LaidSteps lay_steps(const ResolveInput& input, ImageTable& table, const ResolvedTarget& target,
                    Solution& solution) {
  return StageBuilder(input, table, target, solution).run();
}

}  // namespace kiln
