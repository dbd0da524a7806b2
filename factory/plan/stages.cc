// Step::inputs, the canonical JSON whose SHA-256 is the key:
//
//   {"schema": 1, "kind": "run", "component": "library/openblas", "parent": KEY,
//    "script": {"name": "distro.sh", "digest": "sha256:…"}, "files": {NAME: DIGEST}, "parameters": {NAME:
//    VALUE}}
//   rootfs: "architecture" as well;  pull: "reference" and "architecture";  copy: "from" and "copy"
//
// File names are those inside the recipe folder: scripts can see them. Titles, descriptions, labels, the
// engine and the place of the recipe on disk are not here.
#include "plan/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "plan/component_value.h"

namespace kiln {
namespace {

Step new_step(StepKind kind, const Chosen& chosen, const std::string& parent) {
  Step step;
  step.kind = kind;
  step.parent = parent;
  step.component = path_of(*chosen.component);
  step.title =
      fmt::format("{} {} ({})", chosen.component->name, chosen.version->version.text(), chosen.method->name);
  step.inputs = {{"schema", 1}, {"kind", name_of(kind)}, {"component", step.component}, {"parent", parent}};
  return step;
}

const RecipeFile& file_of(const Component& component, const std::string& path) {
  auto found = component.files.find(path);
  if (found != component.files.end()) return found->second;
  throw Error(ExitCode::input, {component.file, 0, 0, ""}, fmt::format("the file '{}' was not read", path));
}

void set_script(Step& step, const Chosen& chosen, const std::string& script,
                const std::vector<std::string>& files, std::map<std::string, std::string> parameters) {
  const Component& component = *chosen.component;
  step.script = script;
  step.files = {script};
  step.inputs["script"] = {{"name", script}, {"digest", file_of(component, script).digest.text()}};
  Json others = Json::object();
  for (const std::string& file : files) {
    if (file == script) continue;
    others[file] = file_of(component, file).digest.text();
    step.files.push_back(file);
  }
  step.inputs["files"] = std::move(others);
  step.inputs["parameters"] = Json::object();
  for (const auto& [name, value] : parameters) step.inputs["parameters"][name] = value;
  step.parameters = std::move(parameters);
}

Step with_key(Step step) {
  step.key = Digest::of(step.inputs.dump()).hex();
  return step;
}

std::string with_version(std::string reference, const std::string& version) {
  constexpr std::string_view kPlace = "{version}";
  for (auto at = reference.find(kPlace); at != std::string::npos;
       at = reference.find(kPlace, at + version.size()))
    reference.replace(at, kPlace.size(), version);
  return reference;
}

const std::string& last_key(const Stage& stage) {
  static const std::string kNone;
  return stage.steps.empty() ? kNone : stage.steps.back().key;
}

std::string identity(const Chosen& chosen) {
  return fmt::format("{}@{}:{}", path_of(*chosen.component), chosen.version->version.text(),
                     chosen.method->name);
}

std::vector<Requirement> requirements_of(const Chosen& chosen) {
  std::vector<Requirement> requirements;
  for (const Need& need : chosen.method->build->needs)
    requirements.push_back({&need, chosen.component->name});
  return requirements;
}

}  // namespace

StageBuilder::StageBuilder(const ResolveInput& input, const Target& target, const Choice& image,
                           std::string cell_method)
    : input_(&input),
      target_(&target),
      image_(&image),
      cell_method_(std::move(cell_method)),
      architecture_(target.platform_architecture(input.cpus)),
      values_(target, input.cpus) {}

std::vector<Stage> StageBuilder::build() {
  Stage image{"image", {}};
  std::vector<const Chosen*> laid;
  for (const Chosen& chosen : *image_) lay(image, chosen, laid);
  stages_.push_back(std::move(image));
  return stages_;
}

void StageBuilder::lay_base(Stage& stage, const Chosen& base) {
  const Method& method = *base.method;
  bool pulled = method.rootfs.empty();
  Step step = new_step(pulled ? StepKind::pull : StepKind::rootfs, base, "");
  step.inputs["architecture"] = architecture_;
  if (pulled) {
    step.reference = with_version(method.image, base.version->version.text());
    step.inputs["reference"] = step.reference;
  } else {
    set_script(step, base, method.rootfs, method.files,
               values_.of({&base, image_, {}, FlagPolicy::required}));
  }
  stage.steps.push_back(with_key(std::move(step)));
}

void StageBuilder::lay(Stage& stage, const Chosen& chosen, std::vector<const Chosen*>& laid) {
  const Method& method = *chosen.method;
  if (chosen.component->kind == Kind::base) lay_base(stage, chosen);
  if (method.build) {
    std::string from = build_stage(chosen);
    Step step = new_step(StepKind::copy, chosen, last_key(stage));
    step.from = from;
    step.copy = method.build->copy;
    step.inputs["from"] = from;
    step.inputs["copy"] = step.copy;
    stage.steps.push_back(with_key(std::move(step)));
  }
  // After a build, the flags were the build's business: the script in the image may lack a compiler.
  FlagPolicy flags = method.build ? FlagPolicy::optional : FlagPolicy::required;
  if (!method.script.empty()) run_script(stage, chosen, method.script, {&chosen, image_, laid, flags});
  laid.push_back(&chosen);
}

void StageBuilder::run_script(Stage& stage, const Chosen& chosen, const std::string& script,
                              const ScriptPlace& place) {
  Step step = new_step(StepKind::run, chosen, last_key(stage));
  set_script(step, chosen, script, chosen.method->files, values_.of(place));
  stage.steps.push_back(with_key(std::move(step)));
}

std::string StageBuilder::build_stage(const Chosen& chosen) {
  std::string who = identity(chosen);
  if (auto done = built_.find(who); done != built_.end()) return done->second;
  if (std::find(open_.begin(), open_.end(), who) != open_.end())
    throw Error(ExitCode::input, chosen.method->where,
                fmt::format("{} is needed to build itself: {} → {}", who, fmt::join(open_, " → "), who));
  open_.push_back(who);
  NeedSolver solver(input_->recipes, cell_method_, *image_);
  Choice tools = solver.complete({image_->front()}, requirements_of(chosen));
  for (Chosen& tool : tools) tool.automatic = true;  // of equal rank here: layered by kind and name
  tools = layered(tools);
  Stage stage;
  std::vector<const Chosen*> laid;
  for (const Chosen& tool : tools) lay(stage, tool, laid);
  run_script(stage, chosen, chosen.method->build->script, {&chosen, image_, laid, FlagPolicy::required});
  open_.pop_back();
  stage.name = stage_name(chosen);
  std::string key = last_key(stage);
  stages_.push_back(std::move(stage));
  built_.emplace(std::move(who), key);
  return key;
}

std::string StageBuilder::stage_name(const Chosen& chosen) const {
  std::string name = "build-" + chosen.component->name;
  auto taken = [&](const Stage& stage) { return stage.name == name; };
  if (std::none_of(stages_.begin(), stages_.end(), taken)) return name;
  return fmt::format("{}-{}-{}-{}", name, name_of(chosen.component->kind), chosen.version->version.text(),
                     chosen.method->name);
}

std::vector<Step> StageBuilder::tests(const std::string& last,
                                      const std::map<std::string, std::string>& environment) {
  std::vector<Step> tests;
  for (const Chosen& chosen : *image_) {
    if (!chosen.component->test) continue;
    Step step = new_step(StepKind::test, chosen, last);
    std::map<std::string, std::string> parameters = environment;
    for (auto& [name, value] : values_.of({&chosen, image_, {}, FlagPolicy::none})) parameters[name] = value;
    parameters["KILN_NAME"] = chosen.component->name;
    parameters["KILN_VERSION"] = chosen.version->version.text();
    parameters["KILN_METHOD"] = chosen.method->name;
    step.title = "test " + step.title;
    set_script(step, chosen, chosen.component->test->script, chosen.component->test->files,
               std::move(parameters));
    tests.push_back(with_key(std::move(step)));
  }
  return tests;
}

}  // namespace kiln
