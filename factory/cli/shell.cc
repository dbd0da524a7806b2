// kiln shell: a shell where a step of an image runs, or in the image itself.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/run/script.h"
#include "factory/state/plan_file.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

struct ShellOptions : CellOptions {
  std::string step;
  bool failed = false;
};

constexpr std::size_t kShortestKey = 6;  // digits of a key that name a step

struct ShellCell {
  std::string plan;
  ImageSpec image;
};

// The one image that the patterns mean, as it was last built: what is looked into is what is there.
ShellCell built_cell(const ShellOptions& options, const StatePaths& state, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  ChosenCells chosen = choose_cells(catalogue.plan, options, invocation);
  if (chosen.images.size() != 1) {
    std::vector<std::string> names;
    for (std::uint32_t number : chosen.images) names.push_back(catalogue.plan.image(number).reference());
    throw Error(
        ExitCode::usage, fmt::format("a shell is opened in one image, and these are {}", names.size()),
        fmt::format(
            "name one: {}",
            fmt::join(names.begin(), names.begin() + std::min<std::ptrdiff_t>(8, std::ssize(names)), ", ")));
  }
  const std::string id = catalogue.plan.image(chosen.images.front()).id();
  auto file = PlanFile::open(invocation.files, state.plan(catalogue.plan.name()));
  auto image = file ? file->image(id) : std::nullopt;
  if (!image)
    throw Error(ExitCode::usage, fmt::format("{} was never built here", id), "run `kiln build` first");
  return {catalogue.plan.name(), *std::move(image)};
}

std::vector<Step> all_steps(const ImageSpec& image) {
  std::vector<Step> steps;
  for (const Step* step : image.steps()) steps.push_back(*step);
  steps.insert(steps.end(), image.tests.begin(), image.tests.end());
  return steps;
}

// A base's root file system is made on the build host, and a copy by nobody's script: these are looked into
// when they are done.
ShellStart start_of(Step step) {
  const bool has_script = step.kind == StepKind::run || step.kind == StepKind::test;
  return {std::move(step), !has_script, {}};
}

// The first step, in order of execution, that is not done and whose last attempt failed.
std::optional<Step> failed_step(const ImageSpec& image, const StatePaths& state, const FileSystem& files) {
  RecordReader reader(state, files);
  for (const Step& step : all_steps(image)) {
    const bool is_done =
        step.kind == StepKind::test ? files.exists(state.test(step.key)) : files.exists(state.step(step.key));
    if (!is_done && reader.failure(step.key)) return step;
  }
  return std::nullopt;
}

ShellStart failed_start(const ImageSpec& image, const StatePaths& state, const Invocation& invocation) {
  auto step = failed_step(image, state, invocation.files);
  if (!step)
    throw Error(ExitCode::no_match, fmt::format("no step of {}:{} failed", image.repository, image.tag));
  ShellStart start = start_of(*step);
  if (start.after)
    throw Error(ExitCode::no_match,
                fmt::format("the failed step is {}, which runs in no container", step->title),
                fmt::format("its log is {}", state.log(step->key).string()));
  return start;
}

[[noreturn]] void fail_ambiguous(const std::string& name, const std::vector<Step>& steps) {
  std::string list;
  for (const Step& step : steps)
    list += fmt::format("{}{} ({} {})", list.empty() ? "" : ", ", step.key.substr(0, 12), name_of(step.kind),
                        step.title);
  throw Error(ExitCode::usage, fmt::format("'{}' means {} steps", name, steps.size()),
              "name one by its key: " + list);
}

// By the beginning of its key, by its title, or by the component whose script it runs.
Step step_named(const std::string& name, const ImageSpec& image) {
  const std::vector<Step> steps = all_steps(image);
  std::vector<Step> found;
  auto look = [&](auto matches) {
    if (found.empty()) std::ranges::copy_if(steps, std::back_inserter(found), matches);
  };
  auto is_of = [&](const Step& step) {
    return step.component == name || step.component.ends_with("/" + name);
  };
  look([&](const Step& step) { return name.size() >= kShortestKey && step.key.starts_with(name); });
  look([&](const Step& step) { return step.title == name; });
  look([&](const Step& step) { return is_of(step) && step.kind == StepKind::run; });
  look(is_of);
  if (found.size() == 1) return found.front();
  if (found.size() > 1) fail_ambiguous(name, found);
  std::set<std::string> sorted;
  for (const Step& step : steps) sorted.insert(step.component.substr(step.component.find('/') + 1));
  const std::vector<std::string> names(sorted.begin(), sorted.end());
  std::string hint = did_you_mean(name, names);
  throw Error(ExitCode::no_match, fmt::format("{}:{} has no step '{}'", image.repository, image.tag, name),
              hint.empty() ? fmt::format("its components: {}", fmt::join(names, ", ")) : hint);
}

ShellStart choose_start(const ShellOptions& options, const ImageSpec& image, const StatePaths& state,
                        const Invocation& invocation) {
  if (!options.step.empty()) return start_of(step_named(options.step, image));
  if (options.failed) return failed_start(image, state, invocation);
  return {image.last_step(), true, image.environment};
}

Step base_of(const Step& step, const ImageSpec& image) {
  for (const Stage& stage : image.stages)
    for (const Step& one : stage.steps)
      if (one.key == step.key) return stage.steps.front();
  return image.image_stage().steps.front();
}

std::string described(const ShellStart& start, const ImageSpec& image) {
  const Step& step = start.step;
  if (start.after)
    return fmt::format("{}:{} with {} done. Nothing done here is kept.", image.repository, image.tag,
                       step.title);
  return fmt::format("{}:{} where {} runs: `/bin/sh -eu {}`. Nothing done here is kept.", image.repository,
                     image.tag, step.title, step.script);
}

void run_shell(const ShellOptions& options, Invocation& invocation) {
  invocation.need_root_or_namespace();
  ::umask(022);  // as in a step
  const StatePaths state = invocation.state();
  const auto [plan, image] = built_cell(options, state, invocation);
  const ShellStart start = choose_start(options, image, state, invocation);
  const Site site = invocation.site();
  StepSetup setup = invocation.step_setup(site, state);
  setup.base = base_of(start.step, image);
  for (const std::string& component : {start.step.component, setup.base->component}) {
    const fs::path copied = state.recipes(plan) / component;
    const fs::path of_earlier_kilns = state.root() / "recipes" / component;  // one folder for all plans
    setup.recipe_folders[component] = invocation.files.is_directory(copied) ? copied : of_earlier_kilns;
  }
  invocation.note(described(start, image));
  CommandResult result = open_shell(start, setup);
  const int status = result.end == CommandEnd::exited ? result.status : 128 + result.status;
  invocation.exit_code =
      result.end == CommandEnd::interrupted ? ExitCode::interrupted : static_cast<ExitCode>(status);
}

}  // namespace

CLI::App* add_shell(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShellOptions>();
  CLI::App* command = add_below(
      app, "shell", "Open a shell in an image, or where one of its steps runs; changes are discarded",
      "kiln shell -f matrix/demo.json 'pytorch:*-openblas-x86_64-*' --failed\n"
      "echo 'ldconfig -p' | kiln shell -f matrix/demo.json framework=jax");
  add_cell_options(*command, *options);
  auto* step =
      add_value(*command, "--step", options->step, "STEP",
                "open it where this step runs: a component (openblas), a title, or the beginning of a key");
  command->add_flag("--failed", options->failed, "open it where the step runs that failed in the last build")
      ->excludes(step);
  command->callback([options, &invocation] { run_shell(*options, invocation); });
  return command;
}

}  // namespace kiln
