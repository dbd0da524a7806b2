#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/record/host_needs.h"
#include "registry/deploy/command_words.h"
#include "registry/deploy/render_job.h"

namespace kiln {

namespace {

// Open MPI's and MPICH's words for processes of a node and their cores.
std::string mpirun_words(const Deployment& deployment) {
  std::string words = fmt::format("mpirun -np {}", deployment.ranks);
  const std::string_view family = mpi_family(deployment.image.mpi);
  const bool spread = deployment.tasks_per_node > 0 && deployment.job.nodes.value_or(1) > 1;
  if (family == "openmpi" && spread)
    words += fmt::format(" --map-by ppr:{}:node:PE={}", deployment.tasks_per_node,
                         std::max(1, deployment.cores_per_task));
  if (family == "mpich" && spread) words += fmt::format(" -ppn {}", deployment.tasks_per_node);
  return words;
}

// Variables that a job inherits from the job in which it was submitted, and must not have: limits of memory,
// of which srun takes one alone, and the ids of an array.
std::string foreign_variables(const Deployment& deployment) {
  std::string names =
      "SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_EXPORT_ENV SLURM_CPU_BIND";
  if (deployment.job.array.empty()) names += " SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID";
  return names;
}

}  // namespace

// Types: SchedMD/slurm@284c3b95, src/slurmctld/job_scheduler.c; openpbs/openpbs@cd7ab5ed, doc/man1/qsub.1B;
// adaptivecomputing/torque@34ff8454, doc/man1/qsub.1.in.
void check_dependency(const JobRequest& job, Scheduler scheduler) {
  if (job.dependency.empty()) return;
  const bool slurm = scheduler == Scheduler::slurm;
  const bool one_is_enough = contains(job.dependency, '?');
  if (one_is_enough && !slurm)
    job.fail("job_dependency", fmt::format("{} has no '?' in a dependency", kSchedulers.of(scheduler)),
             "',' waits for all of them");
  for (const std::string_view part : split(job.dependency, one_is_enough ? '?' : ',')) {
    const std::string_view type = part.substr(0, part.find(':'));
    const bool of_both = type == "after" || type == "afterany" || type == "afterok" || type == "afternotok";
    const bool of_pbs = type == "on" || type.starts_with("before");
    if (slurm ? of_pbs : (!of_both && !of_pbs))
      job.fail("job_dependency", fmt::format("{} has no dependency '{}'", kSchedulers.of(scheduler), type));
    if (!slurm && contains(part, '+'))
      job.fail("job_dependency",
               fmt::format("{} supports no delay, as in '{}'", kSchedulers.of(scheduler), part));
  }
}

// No scheduler: the script runs where it is started.
static SchedulerHeader bash_header(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  SchedulerHeader header{{"#!/bin/bash"}, {}};
  const std::pair<const char*, bool> options[] = {{"account", !job.account.empty()},
                                                  {"queue", !job.queue.empty()},
                                                  {"partition", !job.partition.empty()},
                                                  {"qos", !job.qos.empty()},
                                                  {"wall_time_limit", job.wall_time.has_value()},
                                                  {"node_count", job.nodes.value_or(1) > 1},
                                                  {"memory_limit", job.memory > 0},
                                                  {"minimum_memory_per_processor", job.memory_per_core > 0},
                                                  {"request_specific_nodes", !job.node_names.empty()},
                                                  {"job_array", !job.array.empty()},
                                                  {"architecture_constraint", !job.constraint.empty()},
                                                  {"job_dependency", !job.dependency.empty()},
                                                  {"request_event_notification", !job.mail.empty()},
                                                  {"email_address", !job.address.empty()},
                                                  {"defer_job", job.start.has_value()},
                                                  {"node_exclusive", job.exclusive}};
  for (const auto& [name, asked] : options)
    if (asked) header.missing.push_back(fmt::format("{}: a plain script has no option for it", name));
  return header;
}

SchedulerHeader header_of(const Deployment& deployment) {
  switch (deployment.scheduler) {
    case Scheduler::slurm:
      return slurm_header(deployment);
    case Scheduler::torque:
      return torque_header(deployment);
    case Scheduler::openpbs:
      return openpbs_header(deployment);
    case Scheduler::bash:
      return bash_header(deployment);
  }
  return {};
}

std::vector<std::string> start_lines(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  if (deployment.scheduler == Scheduler::bash) {
    std::vector<std::string> lines;
    if (!job.output.empty())
      lines.push_back(fmt::format("exec >{}{}", job_word(job.output), job.combined ? " 2>&1" : ""));
    if (!job.combined && !job.errors.empty()) lines.push_back("exec 2>" + job_word(job.errors));
    return lines;
  }
  const bool slurm = deployment.scheduler == Scheduler::slurm;
  std::vector<std::string> lines;
  if (slurm) {
    lines.push_back("# Of a job in which this one may have been submitted.");
    lines.push_back("unset " + foreign_variables(deployment));
  }
  // Slurm's own qsub begins in that folder, and does not name it.
  const std::string folder = slurm ? "${SLURM_SUBMIT_DIR}" : "${PBS_O_WORKDIR:-${PWD}}";
  lines.push_back(fmt::format("cd \"{}\"", folder));
  lines.push_back(fmt::format("export PATH=\"{}:${{PATH:-/usr/local/bin:/usr/bin:/bin}}\"", folder));
  return lines;
}

std::string launcher_words(const Deployment& deployment) {
  return deployment.scheduler == Scheduler::slurm ? slurm_launcher(deployment) : mpirun_words(deployment);
}

}  // namespace kiln
