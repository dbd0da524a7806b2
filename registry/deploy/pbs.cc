// Torque and OpenPBS: directives of qsub. Sources: adaptivecomputing/torque@34ff8454, doc/man1/qsub.1.in and
// src/server/resc_def_all.c; openpbs/openpbs@cd7ab5ed (after 23.06.06), doc/man1/qsub.1B and
// pbs_resources.7B.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "registry/deploy/job_values.h"
#include "registry/deploy/render_job.h"

namespace kiln {
namespace {

class PbsDirectives {
 public:
  void add(const std::string& option) { lines_.push_back("#PBS " + option); }
  // qsub splits the line at blanks outside quotes, and knows no escapes within them, as in shell_word().
  void value(const std::string& option, const std::string& text) {
    if (!text.empty()) add(option + " " + shell_word(text));
  }
  void resource(const std::string& name, const std::string& text) {
    if (!text.empty()) add("-l " + shell_word(name + "=" + text));
  }
  std::vector<std::string> lines() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_ = {"#!/bin/bash"};
};

// check_job_name() of both, in src/lib/Libcmds/ck_job_name.c. Torque's manual page allows 15 characters, its
// qsub since 2.5 accepts 256.
std::string pbs_name(const JobRequest& job, bool openpbs) {
  const bool good = std::ranges::all_of(job.name, [&](char c) {
    if (openpbs) return is_letter_or_digit(c) || contains("-_+.", c);
    return c > ' ' && c <= '~';
  });
  if (!good || !is_letter_or_digit(job.name.front()) || job.name.size() > (openpbs ? 230U : 256U))
    job.fail("job_name", fmt::format("PBS does not accept the job name '{}'", job.name),
             openpbs ? "a letter or digit, then letters, digits and - _ + ., at most 230"
                     : "a letter or digit, then printable ASCII without blanks, at most 256");
  return job.name;
}

// parse_array_request() of Torque's server reads N and N-M between commas, then %LIMIT.
const std::string& torque_array(const JobRequest& job) {
  if (contains(job.array, ':'))
    job.fail("job_array", fmt::format("Torque does not support the step in '{}'", job.array),
             "for example 0,4,8,12");
  return job.array;
}

// chk_Jrange() and qsub of OpenPBS read X-Y[:Z][%LIMIT], where X is less than Y; 20.0 has no %LIMIT.
const std::string& openpbs_array(const JobRequest& job) {
  if (job.array.empty()) return job.array;
  const std::string range = job.array.substr(0, job.array.find('%'));
  const std::size_t dash = range.find('-');
  if (contains(range, ',') || dash == range.npos || std::stoi(range) >= std::stoi(range.substr(dash + 1)))
    job.fail("job_array", fmt::format("OpenPBS takes one range of two jobs or more, not '{}'", job.array),
             "for example 0-15");
  return job.array;
}

// "host:path" would be a file of another machine.
const std::string& pbs_file(const JobRequest& job, const char* key, const std::string& file) {
  if (contains(file, ':')) job.fail(key, fmt::format("PBS reads '{}' as HOST:FILE", file));
  return file;
}

void add_common(const Deployment& deployment, PbsDirectives& directives, bool knows_failure) {
  const JobRequest& job = deployment.job;
  check_dependency(job, deployment.scheduler);
  directives.value("-o", pbs_file(job, "standard_output_file", job.output));
  if (!job.combined) directives.value("-e", pbs_file(job, "standard_error_file", job.errors));
  if (job.combined) directives.add("-j oe");
  if (job.copy_environment.value_or(false)) directives.add("-V");
  std::string names;
  for (const JobVariable& variable : job.variables)
    if (!variable.value) names += (names.empty() ? "" : ",") + variable.name;
  directives.value("-v", names);
  if (!job.dependency.empty()) directives.value("-W", "depend=" + job.dependency);
  directives.value("-m", mail_letters(job.mail, knows_failure));
  directives.value("-M", job.address);
  if (!job.start) return;
  const std::string begin = pbs_begin(*job.start);
  if (begin.empty())
    job.fail("defer_job", "PBS does not support a start time relative to now",
             "for example \"2026-11-27T08:30\" or \"08:30\"");
  directives.value("-a", begin);
}

// Of a node. As the document has it: MODAK's process_count_per_node is Torque's ppn.
int processors(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  const int used = std::max(1, deployment.tasks_per_node) * std::max(1, deployment.cores_per_task);
  if (job.per_node && !job.cores_per_process) return std::max(*job.per_node, deployment.tasks_per_node);
  if (deployment.tasks_per_node == 0 && deployment.tasks > 1)
    return (deployment.tasks * std::max(1, deployment.cores_per_task) + job.nodes.value_or(1) - 1) /
           job.nodes.value_or(1);
  return used;
}

// nodes=2:ppn=40:gpus=1:PROPERTY, or nodes=n1:ppn=40+n2:ppn=40.
std::string torque_nodes(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  std::string each = fmt::format(":ppn={}", processors(deployment));
  if (job.gpus.value_or(0) > 0) each += fmt::format(":gpus={}", *job.gpus);
  if (!job.constraint.empty()) each += ":" + job.constraint;
  const int nodes = job.nodes.value_or(1);
  if (job.node_names.size() > 1) {
    if (job.nodes && static_cast<int>(job.node_names.size()) != nodes)
      job.fail("request_specific_nodes",
               fmt::format("{} names for {}", job.node_names.size(), counted(nodes, "node")));
    std::string text;
    for (const std::string& name : job.node_names) text += (text.empty() ? "" : "+") + name + each;
    return text;
  }
  if (!job.node_names.empty()) each += ":" + job.node_names.front();
  return fmt::format("{}{}", nodes, each);
}

// Torque counts a job's memory, the document that of a node.
std::string torque_memory(const JobRequest& job) {
  if (job.memory == 0) return "";
  return mebibytes_text(job.memory * static_cast<std::uint64_t>(job.nodes.value_or(1)), "mb");
}

std::string openpbs_select(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  std::string text = fmt::format("{}:ncpus={}", job.nodes.value_or(1), processors(deployment));
  if (deployment.tasks_per_node > 0) text += fmt::format(":mpiprocs={}", deployment.tasks_per_node);
  if (deployment.tasks_per_node == 0 && job.uses_mpi() && job.nodes.value_or(1) == 1)
    text += fmt::format(":mpiprocs={}", deployment.ranks);
  if (job.gpus.value_or(0) > 0) text += fmt::format(":ngpus={}", *job.gpus);
  if (job.memory > 0) text += ":mem=" + mebibytes_text(job.memory, "mb");
  if (job.memory_per_core > 0)
    text += ":mem=" +
            mebibytes_text(job.memory_per_core * static_cast<std::uint64_t>(processors(deployment)), "mb");
  if (job.node_names.size() == 1) text += ":host=" + job.node_names.front();
  return text;
}

void refuse_separators(const JobRequest& job) {
  if (job.constraint.find_first_of(":+= \t'\"") != std::string::npos)
    job.fail("architecture_constraint", fmt::format("PBS does not accept the property '{}'", job.constraint));
  for (const std::string& name : job.node_names)
    if (contains(name, '['))
      job.fail("request_specific_nodes", fmt::format("PBS does not support the node list '{}'", name),
               "name each node");
}

}  // namespace

SchedulerHeader torque_header(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  refuse_separators(job);
  PbsDirectives directives;
  directives.add("-S /bin/bash");
  directives.value("-N", pbs_name(job, false));
  directives.value("-A", job.account);
  directives.value("-q", job.queue);
  directives.resource("qos", job.qos);
  directives.resource("partition", job.partition);
  if (job.wall_time) directives.resource("walltime", pbs_time(*job.wall_time));
  const bool says_nodes = job.nodes || job.gpus.value_or(0) > 0 || job.per_node || !job.node_names.empty() ||
                          !job.constraint.empty() || deployment.cores_per_task > 0;
  if (says_nodes)
    directives.resource("nodes", torque_nodes(deployment));
  else if (deployment.tasks > 0)
    directives.resource("procs", std::to_string(deployment.tasks));
  directives.resource("mem", torque_memory(job));
  if (job.memory_per_core > 0) directives.resource("pmem", mebibytes_text(job.memory_per_core, "mb"));
  directives.value("-t", torque_array(job));
  add_common(deployment, directives, true);
  // Torque only hands this to an external scheduler, such as Moab; qos and partition as well.
  if (job.exclusive) directives.resource("naccesspolicy", "singlejob");
  return {directives.lines(), {}};
}

SchedulerHeader openpbs_header(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  refuse_separators(job);
  if (job.node_names.size() > 1)
    job.fail("request_specific_nodes", "OpenPBS takes one host for all chunks of this job", "name one node");
  PbsDirectives directives;
  directives.add("-S /bin/bash");
  directives.value("-N", pbs_name(job, true));
  directives.value("-A", job.account);
  directives.value("-q", job.queue);
  if (job.wall_time) directives.resource("walltime", pbs_time(*job.wall_time));
  directives.resource("select", openpbs_select(deployment));
  if (job.exclusive || job.nodes.value_or(1) > 1)
    directives.resource("place",
                        job.exclusive ? (job.nodes.value_or(1) > 1 ? "scatter:excl" : "excl") : "scatter");
  directives.value("-J", openpbs_array(job));
  add_common(deployment, directives, false);
  SchedulerHeader header{directives.lines(), {}};
  if (!job.qos.empty()) header.missing.push_back("qos: OpenPBS has no option for it");
  if (!job.partition.empty())
    header.missing.push_back("partition: OpenPBS has no option for it; queue is -q");
  if (!job.constraint.empty())
    header.missing.push_back("architecture_constraint: OpenPBS has no option for it");
  return header;
}

}  // namespace kiln
