#include "factory/cli/step_job.h"

#include "factory/base/unique_name.h"
#include "factory/cli/step_events.h"
#include "factory/cluster/job_place.h"
#include "factory/cluster/job_run.h"
#include "factory/cluster/machine_text.h"
#include "factory/run/plan_forecast.h"

namespace kiln {
namespace {

// The environment of the job: ours, without what says that ninja started us.
std::map<std::string, std::string> job_environment(const std::string& key, const Invocation& invocation) {
  auto environment = invocation.child_environment();
  environment.erase(kStepOfNinja);
  environment[kJob] = key;
  environment[kAloneOnMachine] = "1";  // its processors are those that Slurm gave it
  return environment;
}

SlurmPlace slurm_place_of(const PlaceNeed& need, const Site& site, Invocation& invocation) {
  if (!site.launcher_config.slurm)
    throw Error(ExitCode::usage, "the site file has no Slurm",
                R"("launcher": {"slurm": {…}} in the site file)");
  const SlurmSite& slurm = *site.launcher_config.slurm;
  if (!site.launcher_config.asked.empty()) return place_named(slurm, site.launcher_config.asked);
  check_places(slurm, invocation.cpus(), site.file);
  return choose_place(slurm, need, invocation.cpus());
}

std::vector<std::string> step_command(const std::string& plan, const Invocation& invocation) {
  return {fs::read_symlink("/proc/self/exe").string(), "step",   "--state",
          invocation.state().root().string(),          "--plan", plan};
}

void run(const JobTask& task, const Site& site, std::int64_t no_start_after, Invocation& invocation) {
  const StatePaths state = invocation.state();
  auto of_run = invocation.environment.find(kRun);
  const JobSetup setup{site,
                       state,
                       invocation.files,
                       invocation.runner,
                       invocation.clock,
                       job_environment(task.key, invocation),
                       of_run == invocation.environment.end() ? unique_name() : of_run->second,
                       no_start_after,
                       [&](const StepEvent& event) { announce(invocation, event); }};
  const double start = invocation.clock.monotonic_seconds();
  const JobOutcome outcome = run_job(task, setup);
  if (outcome.end == JobOutcome::End::too_late) {
    invocation.exit_code = ExitCode::timeout;
    return;
  }
  StepEvent event{outcome.ran ? StepEvent::State::done : StepEvent::State::up_to_date,
                  task.key,
                  task.title,
                  invocation.clock.monotonic_seconds() - start,
                  "",
                  ""};
  if (outcome.said) event = *outcome.said;
  if (outcome.end == JobOutcome::End::failed) {
    event.state = StepEvent::State::failed;
    event.what = outcome.what;
    event.log = state.log(task.key).string();
    invocation.exit_code = ExitCode::images_failed;
  }
  report(event);
}

}  // namespace

void run_step_as_job(const Step& step, const std::string& plan, std::int64_t no_start_after,
                     Invocation& invocation) {
  const Site site = invocation.site();
  const StatePaths state = invocation.state();
  JobTask task{step.key,
               step.title,
               past_run_of(step),
               slurm_place_of(place_need(step), site, invocation),
               step_command(plan, invocation),
               {}};
  task.command.push_back(step.key);
  const fs::path record = step.kind == StepKind::test ? state.test(step.key) : state.step(step.key);
  task.is_done = [&] { return invocation.files.exists(record); };
  run(task, site, step.kind == StepKind::test ? 0 : no_start_after, invocation);
}

void run_packaging_as_job(const ImageSpec& image, const std::string& plan, Invocation& invocation) {
  Site site = invocation.site();
  site.launcher_config.asked.clear();  // that is of tests: an image is packaged anywhere
  const fs::path record = invocation.state().built(record_name(image));
  JobTask task{image.key,
               "image " + image.repository + ":" + image.tag,
               packaging_of(image.key, image.repository),
               slurm_place_of({}, site, invocation),
               step_command(plan, invocation),
               {}};
  task.command.insert(task.command.end(), {"--image", image.request.id});
  task.is_done = [&] { return invocation.files.exists(record); };
  run(task, site, 0, invocation);
}

}  // namespace kiln
