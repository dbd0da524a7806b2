// Slurm: directives of sbatch(1), steps of srun(1). Source: SchedMD/slurm@284c3b95 (26.11), doc/man/man1.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/deploy/job_values.h"
#include "registry/deploy/render_job.h"

namespace kiln {
namespace {

// sbatch reads a directive's line by quotes of its own (src/sbatch/opt.c, get_argument): in both kinds of
// quotes a backslash takes the next character as it is.
std::string slurm_value(const std::string& text) {
  const bool bare =
      std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || contains("_./:@%+,=-", c); });
  if (bare) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

class Directives {
 public:
  void flag(const std::string& name) { lines_.push_back("#SBATCH --" + name); }
  void value(const std::string& name, const std::string& text) {
    if (!text.empty()) flag(name + "=" + slurm_value(text));
  }
  void number(const std::string& name, int value) {
    if (value > 0) flag(fmt::format("{}={}", name, value));
  }
  std::vector<std::string> lines() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_ = {"#!/bin/bash"};
};

void add_size(const Deployment& deployment, Directives& directives) {
  const JobRequest& job = deployment.job;
  if (job.wall_time) directives.value("time", slurm_time(*job.wall_time));
  directives.number("nodes", job.nodes.value_or(0));
  directives.number("ntasks", deployment.tasks);
  directives.number("ntasks-per-node", deployment.tasks_per_node);
  directives.number("cpus-per-task", deployment.cores_per_task);
  // One option of memory: two of them are an error of sbatch.
  if (job.memory > 0)
    directives.value("mem", mebibytes_text(job.memory, "M"));
  else if (job.memory_per_core > 0)
    directives.value("mem-per-cpu", mebibytes_text(job.memory_per_core, "M"));
  // Not --gpus-per-task: it hides the GPUs of the other tasks of a node, and CUDA's IPC with them
  // (NVIDIA/nccl#1066).
  directives.number("gpus-per-node", job.gpus.value_or(0));
}

void add_output(const JobRequest& job, Directives& directives) {
  directives.value("output", job.output);
  if (!job.combined) directives.value("error", job.errors.empty() ? "slurm-%j.err" : job.errors);
  directives.value("mail-type", mail_words(job.mail));
  directives.value("mail-user", job.address);
}

std::string export_words(const JobRequest& job) {
  std::string words = job.copy_environment.value_or(false) ? "ALL" : "";
  for (const JobVariable& variable : job.variables)
    if (!variable.value) words += (words.empty() ? "" : ",") + variable.name;
  // NIL, not NONE: that one runs the user's login files in each job.
  if (words.empty() && job.copy_environment) return "NIL";
  return words;
}

void add_checkpoint(const JobRequest& job, Directives& directives) {
  if (!job.checkpoint) return;
  directives.flag("requeue");
  directives.value("open-mode", "append");
  directives.value("signal", fmt::format("B:{}@{}", job.checkpoint->signal, job.checkpoint->before.count()));
}

}  // namespace

SchedulerHeader slurm_header(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  check_dependency(job, Scheduler::slurm);
  Directives directives;
  directives.value("job-name", job.name);
  directives.value("account", job.account);
  directives.value("partition", job.partition);
  directives.value("qos", job.qos);
  add_size(deployment, directives);
  directives.value("nodelist", joined(job.node_names, ","));
  directives.value("array", job.array);
  add_output(job, directives);
  directives.value("constraint", job.constraint);
  directives.value("export", export_words(job));
  directives.value("dependency", job.dependency);
  if (job.start) directives.value("begin", slurm_begin(*job.start));
  if (job.exclusive) directives.flag("exclusive");
  add_checkpoint(job, directives);
  return {directives.lines(), {}};
}

std::string slurm_launcher(const Deployment& deployment) {
  std::string words = fmt::format("srun --ntasks={}", deployment.ranks);
  if (deployment.job.nodes) words += fmt::format(" --nodes={}", *deployment.job.nodes);
  if (deployment.tasks_per_node > 0) words += fmt::format(" --ntasks-per-node={}", deployment.tasks_per_node);
  // srun of 22.05 and 23.02 does not take it over from sbatch (CHANGELOG/slurm-22.05.md, slurm-23.11.md).
  if (deployment.cores_per_task > 0) words += fmt::format(" --cpus-per-task={}", deployment.cores_per_task);
  if (deployment.job.uses_mpi()) words += " --cpu-bind=cores";
  if (!deployment.mpi_plugin.empty()) words += " --mpi=" + deployment.mpi_plugin;
  return words;
}

}  // namespace kiln
