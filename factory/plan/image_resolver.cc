#include "plan/image_resolver.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "plan/labels.h"

namespace kiln {
namespace {

constexpr std::size_t kNamingDigits = 12;

std::string axis_of(const ImageRequest& request, const std::string& axis) {
  auto found = request.axes.find(axis);
  return found == request.axes.end() || found->second == "none" ? "" : found->second;
}

const std::vector<std::string>& image_command() {
  static const std::vector<std::string> kCommand = {"/bin/sh"};
  return kCommand;
}

void add_globs(const std::vector<Need>& needs, std::set<std::string>& globs) {
  for (const Need& need : needs) {
    globs.insert(need.when.target);
    add_globs(need.any, globs);
  }
}

std::vector<ComponentUse> uses_of(const Choice& choice) {
  std::vector<ComponentUse> uses;
  for (const Chosen& one : choice)
    uses.push_back({one.component->kind, one.component->name, one.version->version, one.method->name,
                    one.method->optimised, one.automatic, one.written});
  return uses;
}

std::set<std::string> target_globs(const RecipeBook& recipes) {
  std::set<std::string> globs;
  for (const auto& [key, component] : recipes.all()) {
    for (const Method& method : component.methods) {
      add_globs(method.needs, globs);
      if (method.build) add_globs(method.build->needs, globs);
    }
  }
  globs.erase("");
  return globs;
}

}  // namespace

ImageResolver::ImageResolver(const ResolveInput& input)
    : input_(input), target_globs_(target_globs(input.recipes)), values_(input.cpus) {}

const SharedTarget& ImageResolver::target_of(const ImageRequest& request) {
  std::string name = axis_of(request, "target");
  auto found = targets_.find(name);
  if (found != targets_.end()) return found->second;
  if (name.empty())
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no target", request.id),
                "add an axis 'target', such as \"target\": [\"x86_64_v3\"]");
  SharedTarget shared;
  shared.target = input_.targets.get(name, request.where);
  shared.architecture = shared.target.platform_architecture(input_.cpus);
  shared.tag = tag_of_target(shared.target);
  for (const std::string& glob : target_globs_) shared.answers += shared.target.matches(glob) ? '1' : '0';
  return targets_.emplace(std::move(name), std::move(shared)).first->second;
}

const Optimise& ImageResolver::optimise_wish(const std::string& axis, const SourceLocation& where) {
  auto found = optimise_.find(axis);
  if (found == optimise_.end())
    found = optimise_.emplace(axis, parse_optimise(axis.empty() ? "none" : axis, where)).first;
  return found->second;
}

void ImageResolver::choose(const ImageRequest& request, const Target& target, SharedChoice& choice) {
  choice.wishes.method = axis_of(request, "method");
  const std::string optimise = axis_of(request, "optimise");
  choice.wishes.optimise = &optimise_wish(optimise, request.where);
  Choice named = choose_named(request, input_.recipes);
  if (named.empty() || named.front().component->kind != Kind::base)
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no base", request.id),
                "add an axis 'base', such as \"base\": [\"debian@trixie\"]");
  NeedSolver solver(input_.recipes, target, choice.wishes.method);
  choice.choice = layered(solver.complete(named, {}), target);
  choice.choice.shrink_to_fit();
  std::map<std::string, std::string> environment;
  for (const Chosen& one : choice.choice) {
    choice.optimised = choice.optimised || one.method->optimised;
    for (const auto& [name, value] : one.method->environment) environment[name] = value;
  }
  choice.environment = PackedMap(environment);
  const std::vector<ComponentUse> components = uses_of(choice.choice);
  choice.repository = repository_of(main_component(components));
  choice.tag = tag_parts(components, optimise);
  choice.labels = PackedMap(component_labels(components, choice.optimised, optimise, input_.recipes));
}

SharedChoice& ImageResolver::choice_of(const ImageRequest& request, const SharedTarget& target) {
  text_ = target.answers;
  for (const auto& [axis, value] : request.axes) {
    if (axis == "target" || value == "none") continue;
    text_.append(axis).push_back('\0');
    text_.append(value).push_back('\0');
  }
  auto found = choices_.find(text_);
  if (found != choices_.end()) return found->second;
  SharedChoice choice;
  try {
    choose(request, target.target, choice);
  } catch (const Unsolvable& unsolvable) {
    choice.reason = unsolvable.reason;
  }
  return choices_.emplace(text_, std::move(choice)).first->second;
}

// The key of the image: its last layer, and what its configuration adds.
Sha256 ImageResolver::image_key(const ImageSketch& sketch) {
  text_.clear();
  JsonObjectText inputs(text_);
  inputs.member("command", image_command());
  inputs.member("environment", sketch.choice->environment);
  inputs.member("platform", "linux/" + sketch.target->architecture);
  inputs.key("schema") += '1';
  inputs.key("step") += '"';
  append_hex(text_, steps_.key(sketch.last_step()));
  text_ += '"';
  inputs.end();
  return steps_.hash(text_);
}

const std::string* ImageResolver::sketch(const ImageRequest& request, ImageSketch& sketch) {
  const SharedTarget& target = target_of(request);
  SharedChoice& choice = choice_of(request, target);
  if (!choice.reason.empty()) return &choice.reason;
  sketch.target = &target;
  sketch.choice = &choice;
  sketch.stages.clear();
  sketch.tests.clear();
  sketch.flags.clear();
  sketch.cell_optimise_used = false;
  try {
    StageBuilder::build({input_, steps_, values_}, target, choice, sketch);
    if (!choice.wishes.optimise->says_nothing() && !sketch.cell_optimise_used)
      throw Unsolvable{fmt::format("no script of this image reads compiler flags: '{}' would change nothing",
                                   axis_of(request, "optimise"))};
  } catch (const Unsolvable& unsolvable) {
    return &*reasons_.insert(unsolvable.reason).first;
  }
  sketch.key = image_key(sketch);
  sketch.tag = make_tag(choice.tag, target.tag);
  return nullptr;
}

std::string ImageResolver::record_name(const ImageSketch& sketch, const ImageRequest& request) {
  std::string name = hex_of(sketch.key);
  Labels own;
  add_cell_labels(own, sketch.target->target, name, request.id, sketch.flags);
  text_.clear();
  JsonObjectText naming(text_);
  append_merged_json(naming.key("labels"), sketch.choice->labels, own);
  naming.member("repository", sketch.choice->repository);
  naming.member("tag", sketch.tag);
  naming.end();
  name += '-';
  return name += hex_of(steps_.hash(text_)).substr(0, kNamingDigits);
}

Step ImageResolver::step(const SketchedStep& sketched) {
  Step step = sketched.pattern->step;
  step.key = steps_.hex(sketched.step);
  step.parent = steps_.hex(sketched.parent);
  step.from = steps_.hex(sketched.from);
  text_.clear();
  if (sketched.values != nullptr) {
    step.parameters = sketched.values->parameters.map();
    append_json(text_, step.parameters);
  }
  write_inputs(step.inputs, *sketched.pattern, step.from, text_, step.parent);
  return step;
}

Step ImageResolver::test(const SketchedStep& sketched, const ImageSketch& image) {
  Step step = this->step(sketched);
  for (const auto& [name, value] : image.choice->environment) step.parameters.emplace(name, value);
  text_.clear();
  append_json(text_, step.parameters);
  write_inputs(step.inputs, *sketched.pattern, step.from, text_, step.parent);
  return step;
}

ImageSpec ImageResolver::whole(const ImageSketch& sketch, const ImageRequest& request) {
  const SharedChoice& choice = *sketch.choice;
  ImageSpec spec;
  spec.request = request;
  spec.repository = choice.repository;
  spec.tag = sketch.tag;
  spec.key = hex_of(sketch.key);
  spec.immutable_tag = make_immutable_tag(spec.tag, spec.key);
  spec.target = sketch.target->target;
  spec.components = uses_of(choice.choice);
  for (const SketchedStage& sketched : sketch.stages) {
    Stage& stage = spec.stages.emplace_back(Stage{sketched.name, {}});
    for (const SketchedStep& one : sketched.steps) stage.steps.push_back(step(one));
  }
  for (const SketchedStep& one : sketch.tests) spec.tests.push_back(test(one, sketch));
  spec.environment = choice.environment.map();
  spec.command = image_command();
  spec.labels = choice.labels.map();
  add_cell_labels(spec.labels, spec.target, spec.key, request.id, sketch.flags);
  for (const FlagOrigin* flag : sketch.flags) spec.flags.push_back(*flag);
  spec.optimised = choice.optimised;
  return spec;
}

}  // namespace kiln
