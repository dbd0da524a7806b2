#include "registry/deploy/render_job.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "registry/deploy/command_words.h"

namespace kiln {
namespace {

using Lines = std::vector<std::string>;

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void add_reasons(Lines& lines, const Deployment& deployment, const SchedulerHeader& header) {
  lines.push_back("# Made by kiln job, for " + on_one_line(deployment.image.name));
  for (const std::string& reason : deployment.reasons) lines.push_back("# " + on_one_line(reason));
  for (const std::string& missing : header.missing) lines.push_back("# " + missing);
}

void add_variables(Lines& lines, const JobRequest& job) {
  for (const JobVariable& variable : job.variables)
    if (variable.value)
      lines.push_back(fmt::format("export {}={}", variable.name, job_word(*variable.value)));
}

// In the shell of the script, so that modules are loaded for what follows. Their functions do not know `set
// -u`.
void add_commands(Lines& lines, const Lines& commands) {
  if (commands.empty()) return;
  lines.push_back("set +u");
  for (const std::string& command : commands) lines.push_back("eval " + job_quoted(command));
  lines.push_back("set -u");
}

// As the site wrote them: they are its text, not the document's.
void add_site_commands(Lines& lines, const Deployment& deployment, bool after) {
  for (const SiteCommands& commands : deployment.site_commands) {
    if (commands.after != after) continue;
    lines.push_back("# Script of the site: " + on_one_line(commands.name));
    lines.emplace_back(commands.text.substr(0, commands.text.find_last_not_of('\n') + 1));
  }
}

// However the application ends; the job's status stays its own.
void add_finish(Lines& lines, const Deployment& deployment) {
  const Lines& commands = deployment.job.after;
  Lines of_site;
  add_site_commands(of_site, deployment, true);
  if (commands.empty() && of_site.empty()) return;
  lines.push_back("finish() {");
  lines.push_back("  status=$?");
  lines.push_back("  set +eu");
  append(lines, of_site);
  for (const std::string& command : commands) lines.push_back("  eval " + job_quoted(command));
  lines.push_back("  exit \"${status}\"");
  lines.push_back("}");
  lines.push_back("trap finish EXIT");
}

Lines start_of(const Deployment& deployment, const SchedulerHeader& header) {
  Lines lines = header.lines;
  add_reasons(lines, deployment, header);
  lines.push_back(
      "# shellcheck disable=SC2016 # single quotes keep variables for the processes that are started");
  lines.push_back("set -euo pipefail");
  append(lines, start_lines(deployment));
  add_variables(lines, deployment.job);
  return lines;
}

std::string job_text(const Deployment& deployment, const SchedulerHeader& header) {
  const JobRequest& job = deployment.job;
  Lines lines = start_of(deployment, header);
  add_commands(lines, job.before);
  append(lines, container_lines(deployment));
  add_site_commands(lines, deployment, false);
  add_finish(lines, deployment);
  append(lines, run_lines(deployment));
  return joined(lines);
}

// The same job on one node, which makes what the application's job runs.
Deployment build_deployment(const Deployment& deployment) {
  Deployment build = deployment;
  JobRequest& job = build.job;
  job.name += "_build";
  job.nodes = 1;
  job.gpus = std::nullopt;
  job.cores = job.per_node = job.cores_per_process = job.ranks = std::nullopt;
  job.array.clear();
  job.dependency.clear();
  job.start.reset();
  job.checkpoint.reset();
  job.exclusive = false;
  job.before.clear();
  build.site_commands.clear();
  job.app_type.clear();
  job.distributed = false;
  if (job.node_names.size() > 1) job.node_names.clear();
  for (std::string* file : {&job.output, &job.errors}) {
    if (file->empty()) continue;
    const std::size_t name = file->size() - last_part(*file).size();
    file->insert(name, "build-");
  }
  build.ranks = 1;
  build.tasks = 1;
  build.tasks_per_node = 0;
  build.cores_per_task = job.build->cores.value_or(1) > 1 ? *job.build->cores : 0;
  build.threads = 0;
  build.tuned.reset();
  build.gpus.clear();
  build.mpi_plugin.clear();
  build.reasons.clear();
  job.threads = std::nullopt;
  return build;
}

std::string build_text(const Deployment& deployment, const SchedulerHeader& header) {
  Lines lines = start_of(deployment, header);
  append(lines, container_lines(deployment));
  append(lines, build_lines(deployment));
  return joined(lines);
}

}  // namespace

JobScripts render_job(const Deployment& deployment) {
  const SchedulerHeader header = header_of(deployment);
  JobScripts scripts;
  scripts.job = job_text(deployment, header);
  scripts.notes = header.missing;
  if (deployment.job.build) {
    const Deployment build = build_deployment(deployment);
    scripts.build = build_text(build, header_of(build));
  }
  return scripts;
}

}  // namespace kiln
