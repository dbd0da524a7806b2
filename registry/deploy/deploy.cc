#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/base/text.h"
#include "factory/record/host_needs.h"
#include "registry/deploy/deployment.h"
#include "registry/select/dsl.h"
#include "registry/select/dsl_words.h"

namespace kiln {

namespace {

std::vector<std::string> partition_names(const Infrastructure& infrastructure) {
  std::vector<std::string> names;
  for (const auto& [name, partition] : infrastructure.partitions) names.push_back(name);
  return names;
}

void choose_scheduler(Deployment& deployment, const Infrastructure* infrastructure,
                      const DeployTerms& terms) {
  const JobRequest& job = deployment.job;
  if (infrastructure != nullptr && job.scheduler && *job.scheduler != Scheduler::bash &&
      *job.scheduler != infrastructure->scheduler)
    job.fail("job_scheduler_type",
             fmt::format("the document is for {}, and {} has {}", kSchedulers.of(*job.scheduler),
                         infrastructure->name, kSchedulers.of(infrastructure->scheduler)));
  if (job.scheduler)
    deployment.scheduler = *job.scheduler;
  else if (infrastructure != nullptr)
    deployment.scheduler = infrastructure->scheduler;
  else if (terms.scheduler)
    deployment.scheduler = *terms.scheduler;
  else
    deployment.notes.push_back(
        "the document names no scheduler: the script is for bash; target.job_scheduler_type names one");
  if (!job.scheduler && infrastructure != nullptr)
    deployment.reasons.push_back(
        fmt::format("{}: the scheduler of {}", kSchedulers.of(deployment.scheduler), infrastructure->name));
}

// Slurm's queues are its partitions; PBS has both words.
void choose_partition(Deployment& deployment, const Infrastructure* infrastructure,
                      const Partition* partition) {
  JobRequest& job = deployment.job;
  if (deployment.scheduler == Scheduler::slurm) {
    if (!job.queue.empty() && !job.partition.empty() && job.queue != job.partition)
      job.fail("partition", fmt::format("the queue is {}, and the partition {}: Slurm has one word for both",
                                        job.queue, job.partition));
    if (job.partition.empty()) job.partition = std::exchange(job.queue, "");
    job.queue.clear();
  }
  if (partition == nullptr || !job.partition.empty() || !job.queue.empty() ||
      deployment.scheduler == Scheduler::bash)
    return;
  (deployment.scheduler == Scheduler::slurm ? job.partition : job.queue) = partition->name;
  deployment.reasons.push_back(
      fmt::format("{}: the default partition of {}", partition->name, infrastructure->name));
}

void choose_gpus(Deployment& deployment) {
  const DeployedImage& image = deployment.image;
  const int asked = deployment.job.gpus.value_or(0);
  if (asked > 0) {
    deployment.gpus = image.gpu_vendor.empty() ? "nvidia" : image.gpu_vendor;
  } else if (!image.gpu_vendor.empty()) {
    deployment.notes.push_back(
        fmt::format("the image has code for GPUs of {}, and request_gpus asks for none", image.gpu_vendor));
  }
}

// srun starts MPI as the library in the image expects it: Open MPI by PMIx, the MPICH family by PMI-2.
void choose_mpi(Deployment& deployment, const Infrastructure* infrastructure) {
  if (!deployment.job.uses_mpi() || deployment.scheduler != Scheduler::slurm) return;
  const std::string_view family = mpi_family(deployment.image.mpi);
  if (infrastructure != nullptr && !infrastructure->mpi.empty())
    deployment.mpi_plugin = infrastructure->mpi;
  else if (!family.empty())
    deployment.mpi_plugin = family == "openmpi" ? "pmix" : "pmi2";
  else if (deployment.ranks > 1)
    deployment.notes.push_back(
        "the MPI of the image is not known: srun starts it as the cluster is configured");
}

void choose_binds(Deployment& deployment, const Infrastructure& infrastructure) {
  constexpr std::string_view kFile = "file://";
  for (const auto& [url, storage_class] : infrastructure.storage) {
    if (!url.starts_with(kFile)) continue;
    const std::string path = url.substr(kFile.size());
    const bool plain = path.size() > 1 && path.front() == '/' && std::ranges::all_of(path, [](char c) {
                         return is_letter_or_digit(c) || contains("/._-", c);
                       });
    if (plain) deployment.binds.push_back(path);
  }
}

// NCCL takes USR1 (NVIDIA/nccl, its own handler), so applications get USR2. torchrun ends at USR2 and leaves
// its processes behind; at TERM it signals them, waits for 30 s and kills them (pytorch/pytorch@0068f5a3,
// torch/distributed/elastic/multiprocessing/api.py: PContext.start, .close).
void choose_signal(Deployment& deployment) {
  if (!deployment.job.checkpoint) return;
  const bool torchrun = deployment.job.uses_torchrun();
  std::string& signal = deployment.job.checkpoint->signal;
  if (torchrun && signal.starts_with("USR"))
    deployment.notes.push_back(
        fmt::format("torchrun ends at {}, unless TORCHELASTIC_SIGNALS_TO_HANDLE has it", signal));
  else if (torchrun)
    deployment.notes.push_back("torchrun kills its processes 30 s after it handed them the signal");
  if (signal.empty()) signal = torchrun ? "TERM" : "USR2";
}

void choose_interval(Deployment& deployment) {
  if (!deployment.job.checkpoint || !deployment.job.checkpoint->failure_rate) return;
  JobCheckpoint& checkpoint = *deployment.job.checkpoint;
  const int nodes = deployment.job.nodes.value_or(1);
  const double write = write_time(checkpoint);
  const double between = mean_time_between_failures(*checkpoint.failure_rate, nodes);
  checkpoint.interval = std::chrono::seconds(std::max(1l, std::lround(daly_interval(write, between))));
  deployment.reasons.push_back(fmt::format(
      "an interval of {} s between checkpoints of {:.3g} s: {} that fail {} times a year have a failure each "
      "{:.0f} s (Daly)",
      checkpoint.interval.count(), write, counted(nodes, "node"), *checkpoint.failure_rate, between));
}

// Why the job cannot use a setting that was measured with one process on a whole host; "": it can.
std::string why_not_tuned(const Deployment& deployment, const TunedRecord& tuned,
                          const Partition* partition) {
  const JobRequest& job = deployment.job;
  if (deployment.ranks > 1)
    return fmt::format("it was measured with one process, and the job starts {}", deployment.ranks);
  const int cores = deployment.cores_per_task;
  const int threads = partition != nullptr && partition->node ? partition->node->threads : 1;
  if (cores > 0 && cores != tuned.host.cores && cores * threads != tuned.host.cores)
    return fmt::format("it was measured on {}, and the process has {}",
                       counted(static_cast<std::size_t>(tuned.host.cores), "core"), cores);
  for (const auto& [name, value] : tuned.settings) {
    if (name.starts_with("LD_"))
      return fmt::format("{} would also change the programs that start the container", name);
    if (name == "OMP_NUM_THREADS" && job.threads && std::to_string(*job.threads) != value)
      return fmt::format("the document asks for {}",
                         counted(static_cast<std::size_t>(*job.threads), "thread"));
    for (const JobVariable& variable : job.variables)
      if (variable.name == name && variable.value != value)
        return fmt::format("the document sets or copies {}", name);
  }
  return "";
}

void choose_tuned(Deployment& deployment, const TunedRecord& tuned, const Partition* partition) {
  const std::string why = why_not_tuned(deployment, tuned, partition);
  if (!why.empty()) {
    deployment.reasons.push_back(
        fmt::format("the tuned setting {} is not used: {}", setting_text(tuned.settings), why));
    return;
  }
  if (tuned.settings.contains("OMP_NUM_THREADS")) deployment.threads = 0;
  deployment.tuned = tuned;
}

void check_launch(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  if (deployment.runtime == ContainerRuntime::enroot && deployment.scheduler != Scheduler::slurm)
    throw Error(ExitCode::input, fmt::format("enroot requires Slurm's plugin pyxis, and the script is for {}",
                                             kSchedulers.of(deployment.scheduler)));
  if (job.uses_own_launcher() && !has_own_launcher(job.framework))
    job.fail("distributed_training", fmt::format("kiln has no launcher for distributed {}", job.framework),
             "app_type mpi starts Horovod's ranks; pytorch has torchrun, tensorflow has TF_CONFIG");
  if (job.uses_own_launcher() && job.nodes.value_or(1) > 1 && deployment.scheduler != Scheduler::slurm)
    job.fail("node_count", fmt::format("{} on several nodes needs Slurm, which names them",
                                       job.framework == "pytorch" ? "torchrun" : "TensorFlow"));
  if (job.checkpoint && deployment.scheduler != Scheduler::slurm)
    job.fail("checkpoint", "checkpoints before the limit of time need Slurm, which sends a signal");
  if (job.checkpoint && (!job.wall_time || *job.wall_time <= job.checkpoint->before))
    job.fail("checkpoint",
             fmt::format("the checkpoint signal comes {} s before the time limit, and wall_time_limit {}",
                         job.checkpoint->before.count(), job.wall_time ? "is not longer" : "is missing"));
  // sbatch(1), --signal: sig_time is "between 0 and 65535".
  if (job.checkpoint && job.checkpoint->before.count() > 65'535)
    job.fail("checkpoint", fmt::format("the checkpoint signal comes {} s before the time limit; "
                                       "Slurm sends it at most 65535 s before",
                                       job.checkpoint->before.count()));
  if (job.uses_torchrun() && has_variables(job.command))
    job.fail("arguments", "torchrun's program is started by no shell: variables are not expanded");
  if (job.command.empty() && (job.distributed || job.uses_mpi()))
    job.fail("executable", "the application has no executable for its ranks");
}

}  // namespace

const Partition* partition_for(const JobRequest& job, const Infrastructure& infrastructure) {
  if (infrastructure.partitions.empty()) return nullptr;
  for (const char* key : {"partition", "queue"}) {
    const std::string& name = key == std::string_view("queue") ? job.queue : job.partition;
    if (name.empty()) continue;
    auto found = infrastructure.partitions.find(name);
    if (found != infrastructure.partitions.end()) return &found->second;
    const auto names = partition_names(infrastructure);
    job.fail(
        key,
        fmt::format("{} has no partition '{}': it has {}", infrastructure.name, name, fmt::join(names, ", ")),
        did_you_mean(name, names));
  }
  if (const Partition* standard = infrastructure.standard_partition()) return standard;
  const auto names = partition_names(infrastructure);
  throw Error(ExitCode::input, fmt::format("{} has no default partition", infrastructure.name),
              fmt::format("name one in job_options.partition: {}", fmt::join(names, ", ")));
}

Deployment deploy(JobRequest job, const DeployedImage& image, const Infrastructure* infrastructure,
                  const DeployTerms& terms) {
  Deployment deployment;
  deployment.image = image;
  deployment.notes = std::exchange(job.notes, {});
  deployment.job = std::move(job);
  choose_scheduler(deployment, infrastructure, terms);
  if (terms.runtime)
    deployment.runtime = *terms.runtime;
  else if (infrastructure != nullptr && infrastructure->runtime)
    deployment.runtime = *infrastructure->runtime;
  const Partition* whole =
      infrastructure == nullptr ? nullptr : partition_for(deployment.job, *infrastructure);
  const std::optional<Partition> part =
      whole == nullptr ? std::nullopt : std::optional(part_for(*whole, deployment.job));
  const Partition* partition = part ? &*part : nullptr;
  check_launch(deployment);
  if (terms.scaling != nullptr)
    for (std::string& reason : scale(deployment.job, *terms.scaling))
      deployment.reasons.push_back(std::move(reason));
  choose_signal(deployment);
  choose_partition(deployment, infrastructure, partition);
  place_processes(deployment, partition);
  if (terms.tuned) choose_tuned(deployment, *terms.tuned, partition);
  if (partition != nullptr) check_partition(deployment, *partition);
  choose_interval(deployment);
  choose_gpus(deployment);
  choose_mpi(deployment, infrastructure);
  if (infrastructure != nullptr) choose_binds(deployment, *infrastructure);
  if (deployment.job.efficiency && terms.scaling == nullptr)
    deployment.notes.push_back(
        "minimal_efficiency is not used: the image has no scaling model; `kiln scale --dsl FILE` shows the "
        "ranks that reach it");
  return deployment;
}

namespace {

constexpr int kMostScaled = 100'000'000;

std::optional<int> bound_of(const JsonNode& model, const char* key) {
  auto bound = present(model, key);
  return bound ? std::optional(read_count(*bound, 1, kMostScaled)) : std::nullopt;
}

void lower(std::optional<int>& value, int most, const char* what, const std::string& why,
           std::vector<std::string>& reasons) {
  if (value.value_or(1) <= most) return;
  reasons.push_back(fmt::format("{} {} in place of {}: {}", most, what, *value, why));
  value = most;
}

}  // namespace

ScalingModel read_scaling_model(const JsonNode& node) {
  node.allow_only({"id", "opt_dsl_code", "model"});
  ScalingModel model;
  model.code = node.at("opt_dsl_code").line_of_text();
  const JsonNode details = node.at("model");
  const JsonNode name = details.at("name");
  const std::string word = name.line_of_text() == "no-op" ? "noop" : name.line_of_text();
  const auto law = kSpeedupLaws.find(word);
  if (!law || *law == SpeedupLaw::gustafson)
    name.fail(fmt::format("unknown scaling model '{}': expected noop, max or amdahl", word),
              did_you_mean(word, {"noop", "max", "amdahl"}));
  model.ranks.law = *law;
  if (*law == SpeedupLaw::noop) details.allow_only({"name"});
  if (*law == SpeedupLaw::max) {
    details.allow_only({"name", "max_nranks", "max_nthreads"});
    model.ranks.most = bound_of(details, "max_nranks").value_or(kMostScaled);
    model.most_threads = bound_of(details, "max_nthreads");
  }
  if (*law == SpeedupLaw::amdahl) {
    details.allow_only({"name", "F"});
    model.ranks.parallel = details.at("F").number();
    // At F = 1 every number of ranks is as efficient as one, and the formula divides by zero.
    if (!(model.ranks.parallel >= 0 && model.ranks.parallel < 1))
      details.at("F").fail("expected a share of the work from 0 up to, but not including, 1");
  }
  return model;
}

std::vector<std::string> scale(JobRequest& job, const ScalingModel& model) {
  std::vector<std::string> reasons;
  const std::string of = "the scaling model of " + model.code;
  const int most = static_cast<int>(choose_ranks(model.ranks, job.ranks.value_or(1), job.efficiency));
  lower(job.ranks, most, "ranks",
        model.ranks.law == SpeedupLaw::amdahl
            ? fmt::format("by {}, more have an efficiency under {}", of, job.efficiency.value_or(0))
            : of + " allows no more",
        reasons);
  if (model.most_threads) lower(job.threads, *model.most_threads, "threads", of + " allows no more", reasons);
  return reasons;
}

}  // namespace kiln
