#include "factory/resolve/image_resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/json_text.h"
#include "factory/base/text.h"
#include "factory/oci/documents.h"

namespace kiln {
namespace {

void add_globs(const std::vector<Need>& needs, std::set<std::string>& globs) {
  for (const Need& need : needs) {
    globs.insert(need.when.target);
    add_globs(need.any, globs);
  }
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

// `value` of the variable, with what lower layers give it in place of "{NAME}". Where they give it nothing,
// the place goes with the separator beside it: an empty entry of a list may have a meaning of its own.
std::string value_upon(const std::string& name, const std::string& before, std::string value) {
  constexpr std::string_view kSeparators = ": ,";
  auto separates = [&](std::size_t at) { return at < value.size() && contains(kSeparators, value[at]); };
  const std::string place = "{" + name + "}";
  std::size_t begin = value.find(place);
  if (begin == std::string::npos) return value;
  std::size_t end = begin + place.size();
  const std::string& lower = before.empty() && name == "PATH" ? kDefaultPath : before;
  if (lower.empty() && begin > 0 && separates(begin - 1))
    --begin;
  else if (lower.empty() && separates(end))
    ++end;
  return value.replace(begin, end - begin, lower);
}

constexpr std::string_view kApplications = "application/";  // of Step::component

// The first of the applications, where nothing else lies upon them: then there is an image below them.
std::optional<std::size_t> applications_of(const Choice& choice) {
  auto is_application = [](const Chosen& chosen) { return chosen.component->kind == Kind::application; };
  const auto first = std::ranges::find_if(choice, is_application);
  if (first == choice.end() || !std::all_of(first, choice.end(), is_application)) return std::nullopt;
  return static_cast<std::size_t>(first - choice.begin());
}

}  // namespace

static const std::vector<std::string>& image_command() {
  static const std::vector<std::string> kCommand = {"/bin/sh"};
  return kCommand;
}

void ImageTable::close() {
  std::vector<StepTable::Number> needed;
  for (std::size_t image = 0; steps.has_twins() && image < images.size(); ++image) {
    for (StepTable::Number step : steps.steps(images[image].last_step)) needed.push_back(step);
    for (StepTable::Number test : tests_of(image)) needed.push_back(test);
  }
  steps.close(needed);
}

std::vector<StepTable::Number> ImageTable::tests_of(std::size_t image) const {
  const std::uint32_t begin = image == 0 ? 0 : images[image - 1].tests_end;
  return {tests.begin() + begin, tests.begin() + images[image].tests_end};
}

std::string ImageTable::parent_key(std::size_t image) const {
  auto found = parents.find(image);
  return found == parents.end() ? "" : hex_of(found->second);
}

std::string ImageTable::tag(std::size_t image) const {
  return make_tag(images[image].composition->tag, images[image].target->tag);
}

std::vector<const FlagOrigin*> ImageTable::flags(StepTable::Number last,
                                                 const std::vector<StepTable::Number>& its_tests) const {
  std::vector<const FlagOrigin*> flags;
  auto add = [&](StepTable::Number step) {
    for (const FlagOrigin& flag : steps.flags(step)) {
      auto same = [&](const FlagOrigin* other) { return *other == flag; };
      if (std::ranges::none_of(flags, same)) flags.push_back(&flag);
    }
  };
  for (StepTable::Number step : steps.laid(last)) add(step);
  for (StepTable::Number test : its_tests) add(test);
  return flags;
}

ImageSpec ImageTable::spec(std::size_t number, ImageRequest request) const {
  const Image& image = images[number];
  const Composition& composition = *image.composition;
  ImageSpec spec;
  spec.request = std::move(request);
  spec.repository = composition.repository;
  spec.tag = tag(number);
  spec.key = hex_of(image.key);
  spec.immutable_tag = make_immutable_tag(spec.tag, spec.key);
  spec.target = image.target->target;
  spec.components = composition.components;
  for (const StepTable::StageSteps& stage : steps.stages(image.last_step)) {
    Stage& whole = spec.stages.emplace_back(Stage{stage.name, {}});
    for (StepTable::Number step : stage.steps) whole.steps.push_back(steps.step(step));
  }
  const std::vector<StepTable::Number> numbers = tests_of(number);
  for (StepTable::Number test : numbers) spec.tests.push_back(steps.step(test));
  spec.environment = composition.environment.map();
  spec.command = image_command();
  spec.labels = composition.labels.map();
  const std::vector<const FlagOrigin*> origins = flags(image.last_step, numbers);
  add_cell_labels(spec.labels, spec.target, spec.key, spec.request.id, parent_key(number), origins);
  for (const FlagOrigin* flag : origins) spec.flags.push_back(*flag);
  spec.optimised = composition.optimised;
  return spec;
}

ImageResolver::ImageResolver(const ResolveInput& input, ImageTable& table)
    : input_(input), table_(&table), target_globs_(target_globs(input.recipes)) {
  for (const auto& [key, component] : input.recipes.all()) documents_.insert(component.file);
}

const ImageResolver::AnsweredTarget& ImageResolver::target_of(const ImageRequest& request) {
  std::string name = axis_value(request.axes, "target");
  auto found = targets_.find(name);
  if (found != targets_.end()) return found->second;
  if (name.empty())
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no target", request.id),
                "add an axis 'target', such as \"target\": [\"x86_64_v3\"]");
  if (auto broken = input_.targets.broken().find(name); broken != input_.targets.broken().end())
    throw Broken{&broken->second};
  ResolvedTarget resolved;
  resolved.target = input_.targets.get(name, request.where);
  resolved.architecture = resolved.target.platform_architecture(input_.cpus);
  resolved.tag = tag_of_target(resolved.target);
  AnsweredTarget answered;
  for (const std::string& glob : target_globs_) answered.answers += resolved.target.matches(glob) ? '1' : '0';
  answered.resolved = &table_->targets.emplace_back(std::move(resolved));
  return targets_.emplace(std::move(name), std::move(answered)).first->second;
}

const Optimise& ImageResolver::optimise_wish(const std::string& axis, const SourceLocation& where) {
  auto found = optimise_.find(axis);
  if (found == optimise_.end())
    found = optimise_.emplace(axis, parse_optimise(axis.empty() ? "none" : axis, where)).first;
  return found->second;
}

const Composition& ImageResolver::compose(const Choice& choice, const std::string& optimise) {
  Composition& composition = table_->compositions.emplace_back();
  std::map<std::string, std::string> environment;
  const std::optional<std::size_t> applications = applications_of(choice);
  for (const auto& [component, version, method, automatic, written] : choice) {
    if (applications == composition.components.size())
      composition.parent_environment = PackedMap(environment);
    composition.components.push_back({component->kind, component->name, version->version, method->name,
                                      method->optimised, automatic, written,
                                      component->accepted(version->version, method->name), component->role});
    composition.optimised = composition.optimised || method->optimised;
    for (const auto& [name, value] : method->environment)
      if (!value.with || has(choice, *value.with))
        environment[name] = value_upon(name, environment[name], value.value);
  }
  composition.environment = PackedMap(environment);
  composition.repository = repository_of(naming_component(composition.components));
  composition.tag = tag_parts(composition.components, optimise);
  composition.labels =
      PackedMap(component_labels(composition.components, composition.optimised, optimise, input_.recipes));
  return composition;
}

void ImageResolver::solve(const ImageRequest& request, const Target& target, Solution& solution) {
  solution.method = axis_value(request.axes, "method");
  const std::string optimise = axis_value(request.axes, "optimise");
  solution.optimise = &optimise_wish(optimise, request.where);
  Choice named = choose_named(request, input_.recipes);
  if (named.empty() || named.front().component->kind != Kind::base)
    throw Error(ExitCode::input, request.where, fmt::format("the cell '{}' has no base", request.id),
                "add an axis 'base', such as \"base\": [\"debian@trixie\"]");
  NeedSolver solver(input_.recipes, target, solution.method);
  solution.choice = layered(solver.complete(named, {}), target);
  solution.choice.shrink_to_fit();
  solution.composition = &compose(solution.choice, optimise);
}

Solution& ImageResolver::solution_of(const ImageRequest& request, const AnsweredTarget& target) {
  text_ = target.answers;
  for (const auto& [axis, value] : request.axes) {
    if (axis == "target" || value == "none") continue;
    text_.append(axis).push_back('\0');
    text_.append(value).push_back('\0');
  }
  auto found = solutions_.find(text_);
  if (found != solutions_.end()) return found->second;
  Solution solution;
  try {
    solve(request, target.resolved->target, solution);
  } catch (const Unsolvable& unsolvable) {
    solution.reason = kept(unsolvable.reason);
  } catch (const Broken& broken) {
    solution.fault = kept(*broken.why);
  } catch (const Error& error) {
    if (!is_of_recipe(error)) throw;
    solution.fault = kept(error);
  }
  return solutions_.emplace(text_, std::move(solution)).first->second;
}

void ImageResolver::add(const ImageRequest& request, std::uint32_t cell) {
  const AnsweredTarget* target = nullptr;
  try {
    target = &target_of(request);
    add_solved(request, cell, *target);
  } catch (const Unsolvable& unsolvable) {
    table_->unsolvable.push_back({cell, kept(unsolvable.reason)});
  } catch (const Broken& broken) {
    table_->broken.push_back({cell, kept(*broken.why), target == nullptr ? nullptr : target->resolved});
  } catch (const Error& error) {
    if (!is_of_recipe(error)) throw;
    table_->broken.push_back({cell, kept(error), target->resolved});
  }
}

void ImageResolver::add_solved(const ImageRequest& request, std::uint32_t cell,
                               const AnsweredTarget& target) {
  Solution& solution = solution_of(request, target);
  if (solution.reason != nullptr)
    table_->unsolvable.push_back({cell, solution.reason});
  else if (solution.fault != nullptr)
    table_->broken.push_back({cell, solution.fault, target.resolved});
  else
    add_image(request, cell, *target.resolved, solution);
}

void ImageResolver::add_image(const ImageRequest& request, std::uint32_t cell, const ResolvedTarget& target,
                              Solution& solution) {
  const LaidSteps laid = lay_steps(input_, *table_, target, solution);
  if (!solution.optimise->says_nothing() && !laid.cell_optimise_used)
    throw Unsolvable{fmt::format("no script of this image reads compiler flags: '{}' would change nothing",
                                 axis_value(request.axes, "optimise"))};
  ImageTable::Image image;
  image.cell = cell;
  image.last_step = laid.last;
  image.target = &target;
  image.composition = solution.composition;
  image.key = key_of(image.last_step, image.composition->environment, target.architecture);
  add_parent(image);
  const std::string labels = labels_of(image, request, laid.tests);
  const std::string tag = make_tag(image.composition->tag, target.tag);
  const Sha256 naming = hasher_.of(naming_text(labels, image.composition->repository, tag));
  std::copy_n(naming.begin(), image.naming.size(), image.naming.begin());
  table_->tests.insert(table_->tests.end(), laid.tests.begin(), laid.tests.end());
  image.tests_end = static_cast<std::uint32_t>(table_->tests.size());
  table_->images.push_back(image);
}

// The key of the image: its last layer, and what its configuration adds.
Sha256 ImageResolver::key_of(StepTable::Number last, const PackedMap& environment,
                             const std::string& architecture) {
  text_.clear();
  JsonObjectText inputs(text_);
  inputs.member("command", image_command());
  inputs.member("environment", environment);
  inputs.member("platform", "linux/" + architecture);
  inputs.key("schema") += '2';  // 1: the base's entry point stayed
  inputs.key("step") += '"';
  append_hex(text_, table_->steps.key(last));
  text_ += '"';
  inputs.end();
  return hasher_.of(text_);
}

void ImageResolver::add_parent(const ImageTable::Image& image) {
  if (!image.composition->parent_environment) return;
  StepTable::Number last = image.last_step;
  while (table_->steps.pattern(last).component.starts_with(kApplications)) last = table_->steps.parent(last);
  table_->parents.emplace(table_->images.size(),
                          key_of(last, *image.composition->parent_environment, image.target->architecture));
}

// All of them, as JSON.
std::string ImageResolver::labels_of(const ImageTable::Image& image, const ImageRequest& request,
                                     const std::vector<StepTable::Number>& tests) const {
  Labels own;
  add_cell_labels(own, image.target->target, hex_of(image.key), request.id,
                  table_->parent_key(table_->images.size()), table_->flags(image.last_step, tests));
  std::string text;
  append_merged_json(text, image.composition->labels, own);
  return text;
}

}  // namespace kiln
