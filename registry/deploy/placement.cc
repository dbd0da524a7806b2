#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/deploy/deployment.h"

namespace kiln {
namespace {

int parts_of(int whole, int part) { return (whole + part - 1) / part; }

// Of `keys`, the first that the document has: where an error about the value that they make is reported.
[[noreturn]] void fail_at(const JobRequest& job, std::initializer_list<const char*> keys,
                          const std::string& message, const std::string& hint = {}) {
  for (const char* key : keys)
    if (job.places.contains(key)) job.fail(key, message, hint);
  job.fail("", message, hint);
}

// A process's cores: written only if the document or the node gives a number. An unasked --cpus-per-task=1 of
// sbatch made srun of Slurm 24.11 start a task for each CPU (BSC-ES/autosubmit#2897).
void place_threads(Deployment& deployment) {
  JobRequest& job = deployment.job;
  if (job.threads && job.cores_per_process && *job.threads > *job.cores_per_process)
    job.fail(
        "threads",
        fmt::format("{} threads do not fit on {}", *job.threads, counted(*job.cores_per_process, "core")),
        "core_count_per_process is the number of cores of a process");
  if (job.cores_per_process)
    deployment.cores_per_task = *job.cores_per_process;
  else if (job.threads && *job.threads > 1)
    deployment.cores_per_task = *job.threads;
  if (job.uses_mpi())
    deployment.threads = job.threads.value_or(deployment.cores_per_task > 0 ? deployment.cores_per_task : 1);
  else
    deployment.threads = job.threads.value_or(job.cores_per_process.value_or(0));
}

constexpr std::int64_t kMostRanks = 100'000'000;

int on_all_nodes(const JobRequest& job) {
  const std::int64_t all = static_cast<std::int64_t>(*job.nodes) * *job.per_node;
  if (all > kMostRanks) job.fail("process_count_per_node", fmt::format("{} processes are too many", all));
  return static_cast<int>(all);
}

int asked_ranks(const JobRequest& job) {
  if (job.ranks) return *job.ranks;
  if (job.nodes && job.per_node) return on_all_nodes(job);
  return job.cores.value_or(job.per_node.value_or(1));
}

void place_ranks_on_nodes(Deployment& deployment) {
  JobRequest& job = deployment.job;
  const int even = parts_of(deployment.ranks, *job.nodes);
  if (*job.nodes > deployment.ranks)
    fail_at(job, {"mpi_ranks", "node_count"},
            fmt::format("{} cannot use {}", counted(deployment.ranks, "rank"), counted(*job.nodes, "node")),
            "each node needs a rank");
  if (job.per_node && *job.per_node < even) {
    if (job.cores && deployment.ranks > *job.cores)
      job.fail("mpi_ranks", fmt::format("{} ranks; node_count and process_count_per_node make {} processes, "
                                        "core_count {} cores",
                                        deployment.ranks, on_all_nodes(job), *job.cores));
    deployment.notes.push_back(fmt::format("process_count_per_node is {}: {} ranks on {} are {} on each",
                                           *job.per_node, deployment.ranks, counted(*job.nodes, "node"),
                                           even));
  } else if (job.per_node && *job.per_node > even) {
    deployment.notes.push_back(
        fmt::format("process_count_per_node is {}, and mpi_ranks {}: kiln starts {} on each of {} nodes",
                    *job.per_node, deployment.ranks, even, *job.nodes));
  }
  deployment.tasks_per_node = even;
}

void place_ranks(Deployment& deployment, const MachineKind* node) {
  JobRequest& job = deployment.job;
  deployment.ranks = asked_ranks(job);
  const int cores = std::max(1, deployment.cores_per_task);
  if (!job.nodes && job.per_node) job.nodes = parts_of(deployment.ranks, *job.per_node);
  if (!job.nodes && job.cores && deployment.ranks > *job.cores)
    fail_at(job, {"mpi_ranks"},
            fmt::format("{} ranks do not fit on {}", deployment.ranks, counted(*job.cores, "core")),
            "core_count is the number of cores of the job");
  if (!job.nodes && node != nullptr) {
    const int fitting = std::max(1, node->all_cores() * node->threads / cores);
    job.nodes = parts_of(deployment.ranks, fitting);
    deployment.reasons.push_back(fmt::format("{}: {} of {} on nodes with {}", counted(*job.nodes, "node"),
                                             counted(deployment.ranks, "rank"), counted(cores, "core"),
                                             counted(node->all_cores(), "core")));
  }
  if (job.nodes) place_ranks_on_nodes(deployment);
  if (job.cores && *job.cores < deployment.ranks)
    deployment.notes.push_back(fmt::format("core_count is {}, and mpi_ranks {}: kiln asks for {} processes",
                                           *job.cores, deployment.ranks, deployment.ranks));
  deployment.tasks = deployment.ranks;
}

// A launcher on each node starts the processes there.
void place_launchers(Deployment& deployment) {
  JobRequest& job = deployment.job;
  if (!job.nodes) job.nodes = 1;
  deployment.ranks = *job.nodes;
  deployment.tasks = *job.nodes;
  deployment.tasks_per_node = 1;
  if (deployment.cores_per_task == 0) deployment.cores_per_task = job.per_node.value_or(0);
  if (deployment.cores_per_task == 0 && job.cores)
    deployment.cores_per_task = parts_of(*job.cores, *job.nodes);
}

void place_program(Deployment& deployment) {
  JobRequest& job = deployment.job;
  if (job.nodes && job.per_node && job.cores && *job.cores > on_all_nodes(job))
    job.fail("core_count",
             fmt::format("{} do not fit {} with {}", counted(*job.cores, "process", "processes"),
                         counted(*job.nodes, "node"), counted(*job.per_node, "process", "processes")));
  if (job.ranks && *job.ranks > 1)
    deployment.notes.push_back(
        fmt::format("mpi_ranks is not used: app_type is '{}', and mpi or hpc starts ranks", job.app_type));
  deployment.tasks = job.cores.value_or(0);
  deployment.tasks_per_node = job.per_node.value_or(0);
  if (job.nodes.value_or(1) > 1)
    deployment.notes.push_back(fmt::format(
        "the program runs once, on the first of {} nodes: app_type mpi or distributed_training uses all",
        *job.nodes));
}

bool says_size(const JobRequest& job) {
  return job.cores || job.per_node || job.cores_per_process || job.threads || job.ranks;
}

// The share of a node that goes with its GPUs, or all of it.
void fill_from_node(Deployment& deployment, const Partition& partition) {
  const MachineKind& node = *partition.node;
  JobRequest& job = deployment.job;
  const int gpus = job.gpus.value_or(0);
  const bool shared = gpus > 0 && gpus < node.accelerators;
  if (!job.nodes) {
    const int cores = job.cores.value_or(1);
    job.nodes = parts_of(cores, node.all_cores() * node.threads);
    if (cores > 1)
      deployment.reasons.push_back(fmt::format("{}: {} on nodes with {}", counted(*job.nodes, "node"),
                                               counted(cores, "process", "processes"),
                                               counted(node.all_cores(), "core")));
  }
  if (!says_size(job)) {
    const int cores = shared ? std::max(1, static_cast<int>(static_cast<std::int64_t>(node.all_cores()) *
                                                            gpus / node.accelerators))
                             : node.all_cores();
    if (!deployment.job.distributed) deployment.tasks = 1;
    deployment.cores_per_task = cores;
    deployment.threads = cores;
    deployment.reasons.push_back(
        shared ? fmt::format("{} cores: the share of {} of a node's {} GPUs", cores, gpus, node.accelerators)
               : fmt::format("{} cores: a whole node of {}", cores, partition.name));
  }
  if (shared && node.memory > 0 && job.memory == 0 && job.memory_per_core == 0) {
    // The system has its part of a node's memory, and Slurm offers what is left.
    const std::uint64_t gib =
        node.memory / static_cast<std::uint64_t>(node.accelerators) * gpus / 10 * 9 >> 30;
    if (gib == 0) return;
    job.memory = gib << 30;
    deployment.reasons.push_back(fmt::format("{} GiB: nine tenths of the share of {} of a node's {} GPUs",
                                             gib, gpus, node.accelerators));
  }
}

void check_cores(const Deployment& deployment, const Partition& partition) {
  const JobRequest& job = deployment.job;
  const MachineKind& node = *partition.node;
  const int most = node.all_cores() * node.threads;
  const int cores = std::max(1, deployment.cores_per_task);
  const int processes = std::max(1, deployment.tasks_per_node);
  if (static_cast<std::int64_t>(processes) * cores > most)
    fail_at(job, {"process_count_per_node", "core_count_per_process", "threads", "mpi_ranks"},
            fmt::format("the job needs {} of {} on a node; the partition {} has nodes with {}",
                        counted(processes, "process", "processes"), counted(cores, "core"), partition.name,
                        counted(most, "core")));
  const std::int64_t all = static_cast<std::int64_t>(most) * (job.nodes ? *job.nodes : partition.nodes);
  if (all > 0 && static_cast<std::int64_t>(deployment.tasks) * cores > all)
    fail_at(job, {"core_count", "mpi_ranks"},
            fmt::format("the job needs {} cores; {} of the partition {} have {}",
                        static_cast<std::int64_t>(deployment.tasks) * cores,
                        counted(job.nodes ? *job.nodes : partition.nodes, "node"), partition.name, all));
}

void check_memory(const Deployment& deployment, const Partition& partition) {
  const JobRequest& job = deployment.job;
  const std::uint64_t most = partition.node->memory;
  if (most == 0) return;
  if (job.memory > most)
    fail_at(job, {"memory_limit"},
            fmt::format("the job needs {} of memory; the partition {} has nodes with {}",
                        mebibytes_text(job.memory, " MiB"), partition.name, mebibytes_text(most, " MiB")));
  const std::uint64_t cores = static_cast<std::uint64_t>(std::max(1, deployment.cores_per_task)) *
                              static_cast<std::uint64_t>(std::max(1, deployment.tasks_per_node));
  if (job.memory_per_core * cores > most)
    fail_at(job, {"minimum_memory_per_processor"},
            fmt::format("the job needs {} for {}; the partition {} has nodes with {}",
                        mebibytes_text(job.memory_per_core * cores, " MiB"), counted(cores, "core"),
                        partition.name, mebibytes_text(most, " MiB")));
}

}  // namespace

void place_processes(Deployment& deployment, const Partition* partition) {
  const MachineKind* node = partition != nullptr && partition->node ? &*partition->node : nullptr;
  place_threads(deployment);
  if (deployment.job.uses_mpi())
    place_ranks(deployment, node);
  else if (deployment.job.distributed)
    place_launchers(deployment);
  else
    place_program(deployment);
  if (node != nullptr && !deployment.job.uses_mpi() && deployment.scheduler != Scheduler::bash)
    fill_from_node(deployment, *partition);
}

void check_partition(const Deployment& deployment, const Partition& partition) {
  const JobRequest& job = deployment.job;
  if (partition.nodes > 0 && job.nodes && *job.nodes > partition.nodes)
    fail_at(job, {"node_count", "mpi_ranks", "core_count"},
            fmt::format("the job needs {}; the partition {} has {}", counted(*job.nodes, "node"),
                        partition.name, partition.nodes));
  if (!partition.node) return;
  check_cores(deployment, partition);
  check_memory(deployment, partition);
  int most = partition.node->accelerators;
  for (const AlikeNodes& kind : partition.kinds) most = std::max(most, kind.node.accelerators);
  if (job.gpus.value_or(0) > most)
    job.fail("request_gpus", fmt::format("the job needs {} on a node; the partition {} has nodes with {}",
                                         counted(*job.gpus, "GPU"), partition.name, most));
}

}  // namespace kiln
