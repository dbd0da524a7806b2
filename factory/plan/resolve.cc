#include "plan/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "plan/choose.h"
#include "plan/stages.h"

namespace kiln {
namespace {

constexpr std::array<std::pair<StepKind, std::string_view>, 5> kStepKinds = {{{StepKind::rootfs, "rootfs"},
                                                                              {StepKind::pull, "pull"},
                                                                              {StepKind::run, "run"},
                                                                              {StepKind::copy, "copy"},
                                                                              {StepKind::test, "test"}}};

std::string axis_of(const ImageRequest& request, const std::string& axis) {
  auto found = request.axes.find(axis);
  return found == request.axes.end() || found->second == "none" ? "" : found->second;
}

Target target_of(const ImageRequest& request, const TargetBook& targets) {
  std::string name = axis_of(request, "target");
  if (name.empty())
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no target", request.id),
                "add an axis 'target', such as \"target\": [\"x86_64_v3\"]");
  return targets.get(name, request.where);
}

Choice choose(const ImageRequest& request, const RecipeBook& recipes) {
  Choice named = choose_named(request, recipes);
  if (named.empty() || named.front().component->kind != Kind::base)
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no base", request.id),
                "add an axis 'base', such as \"base\": [\"debian@trixie\"]");
  return layered(NeedSolver(recipes, axis_of(request, "method")).complete(named, {}));
}

// The key of the image: its last layer, and what its configuration adds.
std::string image_key(const ImageSpec& spec, const Microarchitectures& cpus) {
  Json inputs = {{"schema", 1},
                 {"step", spec.last_step().key},
                 {"environment", spec.environment},
                 {"command", spec.command},
                 {"platform", "linux/" + spec.target.platform_architecture(cpus)}};
  return Digest::of(inputs.dump()).hex();
}

void describe_components(ImageSpec& spec, const Choice& choice) {
  for (const Chosen& one : choice) {
    spec.components.push_back({one.component->kind, one.component->name, one.version->version,
                               one.method->name, one.method->optimised, one.automatic, one.written});
    spec.optimised = spec.optimised || one.method->optimised;
    for (const auto& [name, value] : one.method->environment) spec.environment[name] = value;
  }
}

}  // namespace

std::string_view name_of(StepKind kind) {
  for (const auto& [known, name] : kStepKinds)
    if (known == kind) return name;
  return "";
}

StepKind step_kind_from(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [kind, known] : kStepKinds) {
    if (known == name) return kind;
    names.emplace_back(known);
  }
  throw Error(ExitCode::input, fmt::format("unknown kind of step '{}'", name), did_you_mean(name, names));
}

std::variant<ImageSpec, ExcludedCell> resolve(const ImageRequest& request, const ResolveInput& input) {
  try {
    ImageSpec spec;
    spec.request = request;
    spec.target = target_of(request, input.targets);
    Choice choice = choose(request, input.recipes);
    describe_components(spec, choice);
    spec.command = {"/bin/sh"};
    StageBuilder builder(input, spec.target, choice, axis_of(request, "method"));
    spec.stages = builder.build();
    spec.tests = builder.tests(spec.last_step().key, spec.environment);
    spec.flags = builder.flags();
    spec.key = image_key(spec, input.cpus);
    spec.repository = repository_of(main_component(spec.components));
    spec.tag = make_tag(spec.components, spec.target);
    spec.immutable_tag = make_immutable_tag(spec.tag, spec.key);
    spec.labels = make_labels(spec, input.recipes);
    return spec;
  } catch (const Unsolvable& unsolvable) {
    return ExcludedCell{request.axes, unsolvable.reason, request.where};
  }
}

}  // namespace kiln
