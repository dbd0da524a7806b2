#include "factory/cli/tune_place.h"

#include <fmt/format.h>

#include "factory/base/effects.h"
#include "factory/cluster/compute_node.h"
#include "factory/cluster/job_request.h"
#include "factory/cluster/trial_jobs.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

// Nodes that a tuning may take by default; more make the search blinder, as each trial knows fewer others.
constexpr std::size_t kUsualJobs = 4;

HostDescription without_features(HostDescription host) {
  host.features.clear();  // a hundred words that no comparison goes by
  return host;
}

}  // namespace

TunePlace::TunePlace(const Site& site, const TuneOffers& offers, Invocation& invocation)
    : site_(site), invocation_(invocation) {
  const bool in_jobs = site.launcher.slurm && !offers.here;
  if (in_jobs) at_once_ = offers.jobs.value_or(kUsualJobs);
  if (!in_jobs && offers.jobs)
    throw Error(ExitCode::usage, "--jobs: trials on one machine run one after the other",
                R"("launcher": {"slurm": {…}} in the site file makes them jobs)");
}

SlurmPartition TunePlace::partition() const {
  const SlurmSite& slurm = *site_.launcher.slurm;
  const std::string& asked = site_.launcher.asked;
  return asked.empty() ? slurm.standard : partition_named(slurm, asked);
}

std::vector<std::string> TunePlace::node_command(const char* subcommand) const {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), subcommand, "--state",
                                    invocation_.state().root().string()};
  if (!site_.file.empty()) words.insert(words.end(), {"--site", fs::absolute(site_.file).string()});
  if (!invocation_.options.engine.empty())
    words.insert(words.end(), {"--engine", invocation_.options.engine});
  return words;
}

HostDescription TunePlace::machine() {
  if (!in_jobs()) return without_features(detect_host(invocation_.files, invocation_.cpus()));
  SlurmPartition whole = partition();
  whole.arguments.insert(whole.arguments.end(), kWholeNode.begin(), kWholeNode.end());
  const SlurmPrograms programs{invocation_.runner, invocation_.clock,
                               slurm_environment(invocation_.child_environment())};
  invocation_.note("tune  a job asks a node what it is");
  const NodeAnswer answer = answer_of_node(node_command("host"), *site_.launcher.slurm, whole,
                                           invocation_.state().jobs(), invocation_.files, programs);
  if (answer.status != 0)
    throw Error(ExitCode::images_failed, "no node said what it is: " + answer.output,
                "`kiln doctor --node` looks for the cause");
  return without_features(
      read_host(JsonDocument::parse(answer.output, "the node's answer").root(), invocation_.cpus()));
}

TuningStarter TunePlace::starter(const TuningSubject& subject, const TrialFiles& files,
                                 const std::string& plan, const StepSetup& setup) {
  if (!in_jobs())
    return [&subject, &setup](const std::vector<TuningJob>& jobs) {
      std::vector<std::vector<TuningAnswer>> answers;
      answers.reserve(jobs.size());
      for (const TuningJob& job : jobs) answers.push_back(run_starts(subject, job, setup));
      return answers;
    };
  files.write(subject, plan);
  std::vector<std::string> command = node_command("tune");
  command.emplace_back("--in-job");
  return [this, &files, &setup, command](const std::vector<TuningJob>& jobs) {
    const JobSetup job_setup{site_,         setup.state, setup.files,
                             setup.runner,  setup.clock, invocation_.child_environment(),
                             unique_name(), 0,           {}};
    const TrialJobs terms{job_setup, partition(),
                          files,     command,
                          at_once_,  [this](const std::string& text) { invocation_.note("tune  " + text); }};
    return run_trial_jobs(jobs, terms);
  };
}

void run_node_trial(const std::string& starts, Invocation& invocation) {
  invocation.need_root_or_namespace();
  const StatePaths state = invocation.state();
  follow_permissions(state);
  const Site site = invocation.site();
  StepSetup setup = invocation.step_setup(site, state);
  setup.is_alone = true;
  NodeTrial(starts, invocation.files).run(detect_host(invocation.files, invocation.cpus()), setup);
}

}  // namespace kiln
