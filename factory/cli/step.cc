// kiln step: one edge of build.ninja, here or on a compute node.
#include "factory/run/step.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cluster/compute_node.h"
#include "factory/cluster/job_request.h"
#include "factory/cluster/job_run.h"
#include "factory/plan/plan_json.h"
#include "factory/run/build.h"
#include "factory/run/forecast.h"
#include "factory/run/package_cell.h"
#include "factory/run/step_terms.h"
#include "factory/state/access.h"
#include "factory/state/lock.h"
#include "factory/state/plan_file.h"
#include "factory/state/record_store.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

// The end of a step as `kiln build` and a person read it.
void report(const StepEvent& event) { print_json(to_json(event), -1); }

// That it starts, goes on or waits. No reader (another machine, no build running) is fine.
void announce(const Invocation& invocation, const StepEvent& event) {
  if (invocation.in_job) return report(event);
  int fifo =
      ::open(invocation.state().events(invocation.step_plan).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fifo < 0) return;
  std::string line = to_json(event).dump() + "\n";
  if (line.size() < 4096 && ::write(fifo, line.data(), line.size()) < 0) errno = 0;
  ::close(fifo);
}

struct StepOptions {
  std::string plan;
  std::string key;
  std::string image;
  std::string terms_file;  // "": none
  StepTerms terms{};       // read from it
  bool slurm = false;
};

SlurmPartition slurm_partition_of(const PartitionNeed& need, const Site& site, Invocation& invocation) {
  if (!site.launcher.slurm)
    throw Error(ExitCode::usage, "the site file has no Slurm",
                R"("launcher": {"slurm": {…}} in the site file)");
  const SlurmSite& slurm = *site.launcher.slurm;
  if (!site.launcher.asked.empty()) return partition_named(slurm, site.launcher.asked);
  check_partitions(slurm, invocation.cpus(), site.file);
  return choose_partition(slurm, need, invocation.cpus());
}

std::vector<std::string> step_command(const StepOptions& options, const Invocation& invocation) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), "step",   "--state",
                                    invocation.state().root().string(),          "--plan", options.plan};
  if (!options.terms_file.empty()) words.insert(words.end(), {"--terms", options.terms_file});
  words.emplace_back("--in-job");
  return words;
}

void run(const JobTask& task, const Site& site, const StepTerms& terms, std::int64_t no_start_after,
         Invocation& invocation) {
  const StatePaths state = invocation.state();
  const JobSetup setup{site,
                       state,
                       invocation.files,
                       invocation.runner,
                       invocation.clock,
                       invocation.child_environment(),
                       terms.run.empty() ? unique_name() : terms.run,
                       no_start_after,
                       [&](const StepEvent& event) { announce(invocation, event); }};
  const double start = invocation.clock.monotonic_seconds();
  const JobOutcome outcome = run_job(task, setup);
  if (outcome.end == JobOutcome::End::too_late) {
    invocation.exit_code = ExitCode::timeout;
    return;
  }
  StepEvent event{outcome.ran ? StepEvent::State::done : StepEvent::State::up_to_date, task.key, task.title,
                  invocation.clock.monotonic_seconds() - start};
  if (outcome.said) event = *outcome.said;
  if (outcome.end == JobOutcome::End::failed) {
    event.state = StepEvent::State::failed;
    event.what = outcome.what;
    event.log = state.log(task.key).string();
    invocation.exit_code = ExitCode::images_failed;
  }
  report(event);
}

// Until its end. The job runs the same command with --in-job. Throws Error(usage) where the site file has no
// Slurm.
void run_step_as_job(const Step& step, const StepOptions& options, Invocation& invocation) {
  const Site site = invocation.site();
  const StatePaths state = invocation.state();
  JobTask task{step.key, step.title, past_run_of(step),
               slurm_partition_of(partition_need(step), site, invocation), step_command(options, invocation)};
  task.command.push_back(step.key);
  const fs::path record = step.kind == StepKind::test ? state.test(step.key) : state.step(step.key);
  task.is_done = [&] { return invocation.files.exists(record); };
  run(task, site, options.terms, step.kind == StepKind::test ? 0 : options.terms.no_step_after, invocation);
}

void run_packaging_as_job(const ImageSpec& image, const StepOptions& options, Invocation& invocation) {
  Site site = invocation.site();
  site.launcher.asked.clear();  // that is of tests: an image is packaged anywhere
  const fs::path record = invocation.state().built(record_name(image));
  JobTask task{image.key, "image " + image.repository + ":" + image.tag,
               packaging_of(image.key, image.repository),
               slurm_partition_of(PartitionNeed(), site, invocation), step_command(options, invocation)};
  task.command.insert(task.command.end(), {"--image", image.request.id});
  task.is_done = [&] { return invocation.files.exists(record); };
  run(task, site, options.terms, 0, invocation);
}

// Every two seconds, and each wait.
std::function<void(const PullState&)> pull_announcer(const Step& step, const Invocation& invocation) {
  constexpr double kBetween = 2;
  const double start = invocation.clock.monotonic_seconds();
  return [&, start, told = start](const PullState& pull) mutable {
    const double now = invocation.clock.monotonic_seconds();
    if (pull.ended || (pull.waits.empty() && now - told < kBetween)) return;
    told = now;
    announce(invocation, {StepEvent::State::running, step.key, step.title, now - start, text_of(pull)});
  };
}

// What the step waits for, and that it goes on.
std::function<void(bool, const std::string&)> wait_announcer(const Step& step, const Invocation& invocation) {
  return [&](bool waits, const std::string& what) {
    const auto now = waits ? StepEvent::State::waiting : StepEvent::State::running;
    announce(invocation, {now, step.key, step.title, 0, what, ""});
  };
}

PlanFile open_plan(const StatePaths& state, const std::string& name, const FileSystem& files) {
  auto file = PlanFile::open(files, state.plan(name));
  if (!file)
    throw Error(ExitCode::usage, "there is no plan '" + name + "' in " + state.root().string(),
                "run `kiln build` first");
  return std::move(*file);
}

Step step_in(const PlanFile& file, const std::string& key) {
  auto step = file.step(key);
  if (!step) throw Error(ExitCode::usage, "the plan has no step '" + key + "'");
  return *std::move(step);
}

ImageSpec image_in(const PlanFile& file, const std::string& cell) {
  auto image = file.image(cell);
  if (!image) throw Error(ExitCode::usage, "the plan has no cell '" + cell + "'");
  return *std::move(image);
}

// The step at the very bottom, whose recipe says how this machine reaches packages.
std::optional<Step> base_of(const Step& step, const PlanFile& file) {
  std::optional<Step> below = step.parent.empty() ? std::nullopt : file.step(step.parent);
  while (below && !below->parent.empty()) below = file.step(below->parent);
  return below;
}

// When ninja is killed, no step goes on behind the next run's back. What waits for a job goes without a word:
// the next run takes the job over.
void die_with_ninja(bool by_slurm, bool of_ninja) {
  ::prctl(PR_SET_PDEATHSIG, by_slurm ? SIGKILL : SIGTERM);
  if (of_ninja && ::getppid() != ::getsid(0))
    throw Error(ExitCode::interrupted, "ninja, which started this step, has ended");
}

// Waits while another process does the same, such as one that a killed run left on another machine.
Claim claim(const StatePaths& state, const std::string& key, const std::string& title,
            Invocation& invocation) {
  return Claim(
      state, key, invocation.clock,
      [&](const std::string& holder) {
        announce(invocation, {StepEvent::State::waiting, key, title, 0, holder + " runs it"});
      },
      invocation.step_plan);
}

// Another build may have packaged it since ninja looked for its record.
bool is_packaged(const ImageSpec& spec, const StatePaths& state, const FileSystem& files) {
  const std::string record = record_name(spec);
  return files.exists(state.built(record)) &&
         StateNames(state, files).is_packaged(record, spec.repository, spec.immutable_tag);
}

// The last edge of an image: what is inside is looked at, and then it gets its manifest.
void package_image(const PlanFile& file, const StepOptions& options, Invocation& invocation) {
  StatePaths state = invocation.state();
  const ImageSpec spec = image_in(file, options.image);
  const std::string title = "image " + spec.repository + ":" + spec.tag;
  const Claim alone = claim(state, spec.key, title, invocation);
  double start = invocation.clock.monotonic_seconds();
  StepEvent event{StepEvent::State::started, spec.key, title};
  if (is_packaged(spec, state, invocation.files)) {
    event.state = StepEvent::State::up_to_date;
    return report(event);
  }
  announce(invocation, event);
  Site site = invocation.site();
  auto failure =
      package_cell({spec, options.plan, site, state, invocation.files, invocation.clock, invocation.cpus(),
                    invocation.environment, KILN_VERSION, invocation.archspec_version()});
  event.state = failure ? StepEvent::State::failed : StepEvent::State::done;
  if (failure) {
    event.log = failure->log.string();
    event.what = failure->what;
    invocation.exit_code = ExitCode::images_failed;
  }
  event.seconds = invocation.clock.monotonic_seconds() - start;
  PastRun run = packaging_of(spec.key, spec.repository);
  run.host = host_name();
  run.time = invocation.clock.unix_seconds();
  run.end = failure ? PastRun::End::failed : PastRun::End::done;
  run.seconds = event.seconds;
  record_run(state.history(), run);
  report(event);
}

// Null where none are shared, or not from this machine: a compute node may not have the key.
std::unique_ptr<SharedSteps> shared_steps(const Site& site, const StatePaths& state, Invocation& invocation) {
  auto tell = [](const std::string& text) { say("{}\n", note_line(text)); };
  try {
    return invocation.shared_steps(site, state, tell);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    tell("warning: this machine shares no steps: " + error.format());
    return nullptr;
  }
}

// The time of whoever builds is up.
bool is_too_late(const Step& step, const StepTerms& terms, const Invocation& invocation) {
  const std::int64_t end = terms.no_step_after;
  return end > 0 && step.kind != StepKind::test && invocation.clock.unix_seconds() >= end;
}

void run_as_job(const PlanFile& file, const StepOptions& options, Invocation& invocation) {
  if (!options.image.empty()) return run_packaging_as_job(image_in(file, options.image), options, invocation);
  run_step_as_job(step_in(file, options.key), options, invocation);
}

// What the build says of its site counts, whatever is in our environment.
void take_terms(StepOptions& step, Invocation& invocation) {
  if (step.terms_file.empty()) return;
  step.terms = read_step_terms(invocation.files, step.terms_file);
  GlobalOptions& options = invocation.options;
  if (!step.terms.site.empty()) options.site = step.terms.site;
  options.engine = step.terms.engine;
  options.mirror = step.terms.mirror;
  options.no_cache = step.terms.no_cache;
  options.offline = step.terms.offline;
}

void run_edge(StepOptions& options, Invocation& invocation) {
  take_terms(options, invocation);
  const StepTerms& terms = options.terms;
  die_with_ninja(options.slurm, terms.of_ninja && !invocation.in_job);
  if (!options.slurm) invocation.need_root_or_namespace();
  StatePaths state = invocation.state();
  invocation.step_plan = options.plan;
  follow_permissions(state);
  PlanFile file = open_plan(state, options.plan, invocation.files);
  if (options.slurm) return run_as_job(file, options, invocation);
  if (!options.image.empty()) return package_image(file, options, invocation);
  const Step step = step_in(file, options.key);
  if (is_too_late(step, terms, invocation)) {
    invocation.exit_code = ExitCode::timeout;
    return;
  }
  Site site = invocation.site();
  StepSetup setup = invocation.step_setup(site, state);
  setup.base = base_of(step, file);
  setup.tell_pull = pull_announcer(step, invocation);
  setup.tell = wait_announcer(step, invocation);
  setup.is_alone = invocation.in_job;  // its processors are those that Slurm gave it
  setup.at_once = terms.at_once;
  if (invocation.in_job)
    setup.machine = machine_text(invocation.environment, invocation.runner, invocation.files);
  std::optional<HostDescription> host;  // of tests alone
  if (step.kind == StepKind::test) {
    host = detect_host(invocation.files, invocation.cpus());
    setup.test_machine.emplace(TestMachine{*host, invocation.cpus()});
  }
  const fs::path recipes = state.recipes(options.plan);
  setup.recipe_folders[step.component] = recipes / step.component;
  if (setup.base) setup.recipe_folders[setup.base->component] = recipes / setup.base->component;
  const Claim alone = claim(state, options.key, step.title, invocation);
  announce(invocation, {StepEvent::State::started, options.key, step.title});
  double start = invocation.clock.monotonic_seconds();
  const auto shared = shared_steps(site, state, invocation);
  setup.shared = shared.get();
  setup.fetches = terms.fetch;
  StepOutcome outcome = run_step(step, setup);
  if (auto why = shared ? shared->forged({step.key, step.kind == StepKind::test}) : ""; !why.empty())
    report(StepEvent{StepEvent::State::forged, step.key, step.title, 0, why});
  StepEvent event{StepEvent::State::done, options.key, step.title,
                  invocation.clock.monotonic_seconds() - start};
  if (outcome == StepOutcome::fetched) {
    event.state = StepEvent::State::fetched;
    event.what = shared->place();
  }
  if (outcome == StepOutcome::up_to_date) event.state = StepEvent::State::up_to_date;
  if (outcome == StepOutcome::failed) {
    event.state = StepEvent::State::failed;
    event.log = state.log(options.key).string();
    if (auto failure = RecordReader(state, invocation.files).failure(options.key)) event.what = failure->what;
    invocation.exit_code = ExitCode::images_failed;
  }
  report(event);
}

}  // namespace

CLI::App* add_step(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<StepOptions>();
  CLI::App* command =
      add_below(app, "step", "Run one step of a plan, as build.ninja does",
                "kiln step --plan demo 1fb32a9f...   # a line of .kiln/builds/demo/build.ninja");
  add_value(*command, "--plan", options->plan, "NAME", "name of the plan in the state folder")->required();
  auto* key = add_value(*command, "key", options->key, "KEY", "key of the step");
  add_value(*command, "--image", options->image, "CELL", "package the image of this cell instead")
      ->excludes(key);
  // Set by `kiln build` alone.
  command->add_option("--terms", options->terms_file)->group("");
  command->add_flag("--in-job", invocation.in_job)->group("");
  command->add_flag("--slurm", options->slurm, "run it as a job of the site's Slurm, and wait for it");
  add_value(*command, "--partition", invocation.options.partition, "NAME",
            "partition of that job (default: by the needs of the step)");
  command->callback([options, &invocation] { run_edge(*options, invocation); });
  return command;
}

}  // namespace kiln
