#include "factory/cli/measuring_place.h"

#include <fmt/format.h>

#include "factory/base/effects.h"
#include "factory/cli/options.h"
#include "factory/cluster/compute_node.h"
#include "factory/cluster/job_request.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

// Nodes that a tuning may take by default; more make its search blinder, as each trial knows fewer others.
constexpr std::size_t kUsualJobs = 4;

HostDescription without_features(HostDescription host) {
  host.features.clear();  // a hundred words that no comparison goes by
  return host;
}

}  // namespace

void add_place_options(CLI::App& command, PlaceOffers& offers, std::string& in_job, Invocation& invocation,
                       const char* starts, const char* jobs) {
  auto* here = command.add_flag("--here", offers.here, starts);
  constexpr std::size_t kMostNodes = 256;
  add_value(command, "-j,--jobs", offers.jobs, "N", jobs)
      ->check(CLI::Range(std::size_t{1}, kMostNodes))
      ->excludes(here);
  add_value(command, "--partition", invocation.options.partition, "NAME",
            "partition of these jobs; its nodes are alike (default: the site file's)")
      ->excludes(here);
  command.add_option("--in-job", in_job)->group("");  // by kiln alone
}

MeasuringPlace::MeasuringPlace(const Site& site, const PlaceOffers& offers, std::string command,
                               Invocation& invocation)
    : site_(site), command_(std::move(command)), invocation_(invocation) {
  const bool in_jobs = site.launcher.slurm && !offers.here;
  if (in_jobs) at_once_ = offers.jobs.value_or(kUsualJobs);
  if (!in_jobs && offers.jobs)
    throw Error(ExitCode::usage, "--jobs: on one machine the starts run one after the other",
                R"("launcher": {"slurm": {…}} in the site file makes them jobs)");
}

SlurmPartition MeasuringPlace::partition() const {
  const SlurmSite& slurm = *site_.launcher.slurm;
  const std::string& asked = site_.launcher.asked;
  return asked.empty() ? slurm.standard : partition_named(slurm, asked);
}

std::vector<std::string> MeasuringPlace::node_command(const std::string& subcommand) const {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), subcommand, "--state",
                                    invocation_.state().root().string()};
  if (!site_.file.empty()) words.insert(words.end(), {"--site", fs::absolute(site_.file).string()});
  if (!invocation_.options.engine.empty())
    words.insert(words.end(), {"--engine", invocation_.options.engine});
  return words;
}

const HostDescription& MeasuringPlace::machine() {
  if (!machine_)
    machine_ =
        without_features(in_jobs() ? said_by_a_node() : detect_host(invocation_.files, invocation_.cpus()));
  return *machine_;
}

HostDescription MeasuringPlace::said_by_a_node() const {
  SlurmPartition whole = partition();
  whole.arguments.insert(whole.arguments.end(), kWholeNode.begin(), kWholeNode.end());
  const SlurmPrograms programs{invocation_.runner, invocation_.clock,
                               slurm_environment(invocation_.child_environment())};
  invocation_.note(command_ + "  a job asks a node for its description");
  const NodeAnswer answer = answer_of_node(node_command("host"), *site_.launcher.slurm, whole,
                                           invocation_.state().jobs(), invocation_.files, programs);
  if (answer.status != 0)
    throw Error(ExitCode::images_failed, "no node described itself: " + answer.output,
                "`kiln doctor --node` looks for the cause");
  return read_host(JsonDocument::parse(answer.output, "the node's answer").root(), invocation_.cpus());
}

JobSetup MeasuringPlace::job_setup(const StepSetup& setup) const {
  return {site_,         setup.state, setup.files, setup.runner, setup.clock, invocation_.child_environment(),
          unique_name(), 0,           {}};
}

NodeJobs MeasuringPlace::jobs(const JobSetup& setup) const {
  std::vector<std::string> command = node_command(command_);
  command.emplace_back("--in-job");
  return {setup,    partition(),
          command_, std::move(command),
          at_once_, [this](const std::string& text) { invocation_.note(command_ + "  " + text); }};
}

template <typename Task>
void run_node_task(const std::string& task, Invocation& invocation) {
  invocation.need_root_or_namespace();
  const StatePaths state = invocation.state();
  follow_permissions(state);
  const Site site = invocation.site();
  StepSetup setup = invocation.step_setup(site, state);
  setup.is_alone = true;
  Task(task, invocation.files).run(detect_host(invocation.files, invocation.cpus()), setup);
}

template void run_node_task<NodeTrial>(const std::string& task, Invocation& invocation);
template void run_node_task<NodeRound>(const std::string& task, Invocation& invocation);

}  // namespace kiln
