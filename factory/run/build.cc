#include "factory/run/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/engine/architecture.h"
#include "factory/plan/plan_json.h"
#include "factory/render/render.h"
#include "factory/run/build_progress.h"
#include "factory/run/cell_logs.h"
#include "factory/run/damaged_steps.h"
#include "factory/run/failure.h"
#include "factory/run/fetch_steps.h"
#include "factory/run/forecast.h"
#include "factory/run/mend.h"
#include "factory/run/script.h"
#include "factory/run/step_terms.h"
#include "factory/state/access.h"
#include "factory/state/lock.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

// The recipe files as planned: an edit during the build must not change what a key stands for, nor may the
// build of another plan, whose recipes may be others of the same names.
void snapshot_recipes(const BuildSetup& setup) {
  const fs::path folder = setup.state.recipes(setup.plan.name());
  std::set<std::string> components;
  for (StepTable::Number step : StepUses(setup.plan, all_images(setup.plan)).steps())
    components.insert(setup.plan.steps().pattern(step).component);
  for (const auto& [id, component] : setup.recipes.all()) {
    std::string name = fmt::format("{}/{}", name_of(id.first), id.second);
    if (!components.contains(name)) continue;
    for (const auto& [path, file] : component.files) {
      fs::path target = folder / name / path;
      if (setup.files.read(target) != file.bytes) setup.files.write(target, file.bytes);
    }
  }
}

// As ninja sees it, in the state folder.
fs::path ninja_file(const BuildSetup& setup) {
  return setup.state.ninja(setup.plan.name()).lexically_relative(setup.state.root());
}

Command ninja_command(const BuildSetup& setup, const std::vector<std::string>& cells,
                      const BuildOptions& options) {
  Command command;
  command.argv = {"ninja",
                  "-C",
                  setup.state.root().string(),
                  "-f",
                  ninja_file(setup).string(),
                  "-j",
                  std::to_string(std::max(1, options.jobs))};
  if (options.keep_going) command.argv.insert(command.argv.end(), {"-k", "0"});
  command.argv.emplace_back("--");
  command.argv.insert(command.argv.end(), cells.begin(), cells.end());
  command.environment = setup.environment;
  command.environment["NINJA_STATUS"] = "";
  command.capture_stdout = true;
  command.grace = std::chrono::seconds(0);  // it ends when its steps have cleaned up
  return command;
}

void write_terms(const BuildSetup& setup, const BuildOptions& options) {
  StepTerms terms = terms_of(setup.site);
  if (setup.site.launcher.slurm) terms.run = unique_name();
  terms.no_step_after = options.no_step_after;
  terms.fetch = options.fetch;
  if (!setup.site.launcher.is_used()) terms.at_once = options.at_once;
  setup.files.write_output(setup.state.step_terms(setup.plan.name()), to_json(terms).dump() + "\n");
}

// Says of images whether they can be built here. Through a launcher any machine may run a step.
class Machine {
 public:
  explicit Machine(const BuildSetup& setup) : setup_(setup) {}
  bool can_build(const ResolvedImage& image) {
    if (setup_.site.launcher.is_used()) return true;
    auto [found, is_new] = known_.try_emplace(architecture_of(image));
    if (is_new) found->second = can_run(found->first, setup_.files);
    return found->second;
  }

 private:
  const BuildSetup& setup_;
  std::map<std::string, bool> known_;  // by architecture
};

// Another build packages it, or has by now: then its record is good.
void forget_broken(const ResolvedImage& image, const BuildSetup& setup) {
  if (!setup.files.exists(setup.state.built(image.record_name()))) return;
  const auto alone = Claim::try_take(setup.state, image.key(), this_process(setup.clock));
  if (!alone || StateNames(setup.state, setup.files).is_packaged(image)) return;
  RecordWriter(setup.state, setup.files).remove_image(image.record_name());
}

// Those that there were as `before` looked: later ones are of other builds, which are going to read them.
// REQUIRES: none of the images is built.
void forget_failures(const ImageNumbers& images, StateNames& before, const BuildSetup& setup) {
  RecordWriter writer(setup.state, setup.files);
  auto forget = [&](const std::string& key) {
    if (before.has_failure(key)) writer.forget_failure(key);
  };
  for (StepTable::Number step : StepUses(setup.plan, images).steps()) forget(setup.plan.steps().hex(step));
  for (std::uint32_t number : images) {
    const ResolvedImage image = setup.plan.image(number);
    forget(image.key());
    // A record without its layout promises what is not there; ninja would believe it. One that only lacks
    // tests stays.
    if (!before.is_packaged(image)) forget_broken(image, setup);
  }
}

// A process that is killed leaves no record of its failure. A claim without text may be one that a process is
// about to take; where its process did die, its edge failed without a record (LostSteps).
void record_deaths(const BuildSetup& setup) {
  RecordReader reader(setup.state, setup.files);
  take_dead_claims(setup.state, setup.files, [&](const DeadClaim& dead) {
    if (dead.holder.empty() || reader.step(dead.key) || reader.test(dead.key) || reader.failure(dead.key))
      return;
    const Error error(ExitCode::images_failed, "killed: " + dead.holder + " is gone",
                      "the kernel's log (dmesg) says whether memory ran out");
    FailureRecord failure = failure_record(dead.key, error, 0, setup.state.log(dead.key));
    failure.failure = FailureClass::infrastructure;  // what the recipe's own scripts do, kiln step outlives
    RecordWriter(setup.state, setup.files).write(failure);
  });
}

std::set<std::string> hex_of_closed(const ClosedSteps& closed, const StepTable& steps) {
  std::set<std::string> keys;
  for (StepTable::Number step : closed) keys.insert(steps.hex(step));
  return keys;
}

// With Slurm, `kiln step` submits a job and waits for it.
std::vector<std::string> step_arguments(const BuildSetup& setup) {
  std::vector<std::string> arguments = {"--terms", setup.state.step_terms(setup.plan.name()).string()};
  const Launcher& launcher = setup.site.launcher;
  if (launcher.slurm) arguments.emplace_back("--slurm");
  if (launcher.slurm && !launcher.asked.empty())
    arguments.insert(arguments.end(), {"--partition", launcher.asked});
  return arguments;
}

void write_ninja(const BuildSetup& setup, const ClosedSteps& closed, const BuildOptions& options) {
  if (!setup.site.launcher.words.empty() && !setup.runner.find_program(setup.site.launcher.words.front()))
    throw Error(
        ExitCode::tool_missing, {setup.site.file, 0, 0, "/launcher"},
        fmt::format("the launcher '{}' is not installed or not in PATH", setup.site.launcher.words.front()));
  const NinjaOptions ninja{options.kiln,
                           setup.state.root().string(),
                           setup.site.launcher.prefix(),
                           setup.plan.name(),
                           step_arguments(setup),
                           hex_of_closed(closed, setup.plan.steps()),
                           ninja_file(setup).parent_path().string()};
  setup.files.write(setup.state.ninja(setup.plan.name()), render_ninja(setup.plan, ninja));
}

// The steps that were run. `lost`: of this run.
std::size_t run_ninja_once(const BuildSetup& setup, const ImageNumbers& images, const BuildOptions& options,
                           Progress& progress, BuildReport& report, LostSteps& lost) {
  std::vector<std::string> cells;
  for (std::uint32_t image : images) cells.push_back(setup.plan.image(image).id());
  Command command = ninja_command(setup, cells, options);
  write_terms(setup, options);
  std::string errors;
  std::size_t run = 0;
  command.on_line = [&](std::string_view line) {
    if (auto event = step_event_from_line(line)) {
      if (event->state == StepEvent::State::forged)
        report.add({event->key, event->title, event->what});
      else if (event->state == StepEvent::State::fetched)
        ++report.steps_fetched;
      else if (event->state != StepEvent::State::up_to_date)
        ++run;
      report.told.erase(event->key);
      if (event->state == StepEvent::State::failed) report.told.emplace(event->key, *event);
      progress.event(*event);
      return;
    }
    if (auto note = note_from_line(line)) return progress.note(*note);
    lost.read(line);
    if (line.starts_with("ninja: error:")) errors += std::string(line) + "\n";
  };
  CommandResult result;
  {
    EventReader reader(setup.state.events(setup.plan.name()), progress);
    result = setup.runner.run(command);
  }
  progress.finish();
  need_still_there(setup.state, setup.state.ninja(setup.plan.name()), setup.files);
  report.interrupted = result.end == CommandEnd::interrupted || interrupted();
  if (result.end != CommandEnd::exited)
    wait_for_claims(setup.state, setup.files, setup.clock, setup.plan.name());
  record_deaths(setup);
  if (result.end == CommandEnd::signalled)
    report.stopped = "ninja was " + describe_end(result, command.limits);
  std::size_t fatal = result.tail.find("ninja: error:");
  if (!errors.empty() || fatal != std::string::npos)
    throw Error(ExitCode::store, "ninja could not run the plan: " +
                                     last_lines(errors.empty() ? result.tail.substr(fatal) : errors, 3));
  return run;
}

constexpr int kMostRuns = 4;  // of ninja

// Jobs of Slurm outlive what waits for them here: killed alone, another run of ninja waits in its place.
//
//   edge ended ── record, or failure record ──▶ that counts
//             ├── no record, with Slurm ──▶ ninja again, which waits for the same job
//             └── no record, without Slurm ──▶ failure record
std::size_t run_ninja(const BuildSetup& setup, const ImageNumbers& images, const ClosedSteps& closed,
                      const BuildOptions& options, Progress& progress, BuildReport& report) {
  write_ninja(setup, closed, options);
  std::size_t run = 0;
  for (int time = 1;; ++time) {
    LostSteps lost(setup, images);
    run += run_ninja_once(setup, images, options, progress, report, lost);
    // Steps that are told to end, or come too late, have no record either.
    const bool is_late = options.no_step_after > 0 && setup.clock.unix_seconds() >= options.no_step_after;
    if (report.interrupted || is_late) return run;
    const std::size_t without_word = setup.site.launcher.slurm ? lost.count() : 0;
    if (without_word == 0 || !report.stopped.empty() || time == kMostRuns) {
      lost.record();
      return run;
    }
    progress.note(fmt::format("{} lost the process that waited for {}: kiln waits again",
                              counted(without_word, "step"), without_word == 1 ? "its job" : "their jobs"));
  }
}

ImageNumbers not_built(const ImageNumbers& images, const BuildSetup& setup) {
  StateNames names(setup.state, setup.files);
  ImageNumbers rest;
  for (std::uint32_t number : images)
    if (!names.is_built(setup.plan.image(number), setup.plan.steps())) rest.push_back(number);
  return rest;
}

std::size_t take_back(const ImageNumbers& images, bool whole_chain, const BuildSetup& setup) {
  const RecordWriter writer(setup.state, setup.files);
  const std::vector<std::string> steps =
      damaged_steps(setup.plan, images, setup.state, setup.files, whole_chain);
  for (const std::string& key : steps) {
    // What another build makes anew, or has by now, is good.
    const auto alone = Claim::try_take(setup.state, key, this_process(setup.clock));
    if (!alone || is_undamaged(key, setup.state, setup.files, whole_chain)) continue;
    writer.remove_step(key);
    writer.remove_test(key);
  }
  return steps.size();
}

// Runs ninja until nothing that was made or believed is damaged. Steps whose own layers are gone are run
// first; where they make other bits, or a layer is found damaged as it is used, what hangs on it is run
// again.
void make(ImageNumbers images, const BuildSetup& setup, const BuildOptions& options, Progress& progress,
          BuildReport& report) {
  bool any_damage = take_back(images, false, setup) > 0;
  if (options.fetch) fetch_steps(setup, images, options.jobs, progress, report);
  for (int run = 1; !images.empty(); ++run) {
    StateNames before(setup.state, setup.files);
    forget_failures(images, before, setup);
    const ClosedSteps closed = closed_steps(setup.plan, images, before, setup.state, setup.files);
    Forecast forecast =
        forecast_of(setup.plan, images, before, read_history(setup.state.history()), options.jobs, closed);
    const std::size_t steps = forecast.steps();
    BuildOptions run_options = options;
    run_options.at_once = forecast.most_at_once();
    progress.begin(steps, std::move(forecast), progress_source(images, setup));
    report.steps_run += run_ninja(setup, images, closed, run_options, progress, report);
    if (report.interrupted || !report.stopped.empty() || run == kMostRuns) break;
    images = not_built(images, setup);
    std::size_t damaged = take_back(images, false, setup);
    if (damaged == 0) damaged = take_back(images, true, setup);
    if (damaged == 0) break;
    any_damage = true;
    progress.note(fmt::format("{} step{} of damaged layers run again", damaged, damaged == 1 ? "" : "s"));
  }
  // Of images that this build is not about, too.
  if (any_damage && !report.interrupted) mend_layouts(setup.state, setup.files);
}

// What was left by the killed is cleared away by a build that no other is at work beside: what looks
// left may be what the others are writing.
void begin(const ImageNumbers& images, const BuildSetup& setup) {
  const FileLock turn = FileLock::acquire(setup.state.builds_turn());
  if (other_builds(setup.state, setup.files, setup.plan.name()).empty()) {
    take_dead_claims(setup.state, setup.files);
    sweep_state(setup.state, setup.files);
  }
  renew_record_times(setup.state);
  snapshot_recipes(setup);
  setup.files.write(setup.state.plan(setup.plan.name()), plan_text(setup.plan));
  link_logs(setup.plan, images, setup.state);
}

}  // namespace

void restore_plan(const BuildPlan& plan, const StatePaths& state, FileSystem& files,
                  const std::function<void(const std::string&)>& tell) {
  const fs::path file = state.plan(plan.name());
  if (plan.size() == 0 || files.exists(file)) return;
  try {
    files.write(file, plan_text(plan));
  } catch (const Error& error) {
    tell("warning: the plan is missing, and cannot be written: " + error.message());
  }
}

BuildReport build(const BuildSetup& setup, const BuildOptions& options, Progress& progress) {
  double start = setup.clock.monotonic_seconds();
  Machine machine(setup);
  StateNames before(setup.state, setup.files);
  std::set<std::uint32_t> built_before;
  ImageNumbers to_build;
  for (std::uint32_t number : setup.images) {
    const ResolvedImage image = setup.plan.image(number);
    if (before.is_built(image, setup.plan.steps()))
      built_before.insert(number);
    else if (machine.can_build(image))
      to_build.push_back(number);
  }
  BuildReport report;
  if (!to_build.empty()) {
    need_engine_paths(setup.site, setup.state);
    begin(to_build, setup);
    make(to_build, setup, options, progress, report);
    if (!report.interrupted) share_steps(setup, setup.images, progress);
  } else {
    restore_plan(setup.plan, setup.state, setup.files, [&](const std::string& line) { progress.note(line); });
  }
  std::optional<StateNames> changed;
  if (!to_build.empty()) changed.emplace(setup.state, setup.files);
  StateNames& after = changed ? *changed : before;
  for (std::uint32_t number : setup.images) {
    const ResolvedImage image = setup.plan.image(number);
    const bool was_built = built_before.contains(number);
    report.images.push_back(
        outcome_of(image, was_built, was_built || machine.can_build(image), after, setup, report));
  }
  after.keep(setup.files);
  if (!report.stopped.empty())
    for (ImageOutcome& image : report.images)
      if (image.outcome == Outcome::not_reached) image.reason = report.stopped;
  report.seconds = setup.clock.monotonic_seconds() - start;
  return report;
}

}  // namespace kiln
