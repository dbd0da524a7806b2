#include "factory/cluster/compute_node.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

std::string output_of(const std::vector<std::string>& argv, std::map<std::string, std::string> environment,
                      CommandRunner& runner) {
  environment["LC_ALL"] = "C";
  return unless_error([&] {  // it may not be there
    const CommandResult result = runner.ask(argv, environment, std::chrono::seconds(30));
    return result.ok() ? result.output : "";
  });
}

std::string commented(const std::string& text) {
  std::string lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);)
    if (!trimmed(line).empty()) lines += "# " + without_controls(line) + "\n";
  return lines;
}

std::string job_line(const std::map<std::string, std::string>& environment) {
  std::string line = "node " + host_name();
  auto add = [&](const char* words, const char* name) {
    if (environment.contains(name)) line += fmt::format(", {} {}", words, environment.at(name));
  };
  add("job", "SLURM_JOB_ID");
  add("cluster", "SLURM_CLUSTER_NAME");
  add("partition", "SLURM_JOB_PARTITION");
  add("processors", "SLURM_CPUS_ON_NODE");
  add("MB of memory", "SLURM_MEM_PER_NODE");
  add("start", "SLURM_RESTART_COUNT");
  return line;
}

// The distribution's own name for itself (os-release(5)).
std::string system_line(const FileSystem& files) {
  utsname system{};
  ::uname(&system);
  std::string line = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  std::istringstream release(files.read("/etc/os-release").value_or(""));
  for (std::string word; std::getline(release, word);)
    if (word.starts_with("PRETTY_NAME=")) {
      word.erase(0, word.find('=') + 1);
      word.erase(std::remove(word.begin(), word.end(), '"'), word.end());
      line += ", " + word;
    }
  return line;
}

}  // namespace

NodeAnswer answer_of_node(const std::vector<std::string>& command, const SlurmSite& site,
                          const SlurmPartition& partition, const fs::path& folder, FileSystem& files,
                          const SlurmPrograms& programs) {
  const fs::path own = folder / unique_name();
  std::string script = "#!/bin/sh\nexec";
  for (const std::string& word : command) script += " " + shell_word(word);
  script += " >" + shell_word((own / "output").string()) + " 2>&1\n";
  files.write_output(own / "script", script);
  Command sbatch;
  sbatch.argv = {"sbatch", "--wait", "--quiet", "--ntasks=1", "--nodes=1", "--export=ALL"};
  for (std::string& word : partition_words(site, partition)) sbatch.argv.push_back(std::move(word));
  sbatch.argv.insert(sbatch.argv.end(),
                     {"--job-name=kiln-ask", "--output=/dev/null", (own / "script").string()});
  sbatch.environment = programs.environment;
  const CommandResult result = programs.runner.run(sbatch);
  NodeAnswer answer{result.status, files.read(own / "output").value_or("")};
  if (answer.output.empty()) answer.output = result.tail;
  files.remove_all(own);
  if (result.end != CommandEnd::exited)
    throw Error(ExitCode::images_failed, "sbatch was ended before the node answered");
  return answer;
}

std::string main_lines_of_lscpu(const std::string& output) {
  constexpr std::array kMain = {"Architecture",       "CPU(s)",    "Model name",   "Thread(s) per core",
                                "Core(s) per socket", "Socket(s)", "NUMA node(s)", "Hypervisor vendor"};
  std::string main;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::string name(trimmed(std::string_view(line).substr(0, line.find(':'))));
    if (std::ranges::find(kMain, name) != kMain.end()) main += std::string(trimmed(line)) + "\n";
  }
  return main;
}

std::string machine_text(const std::map<std::string, std::string>& environment, CommandRunner& runner,
                         const FileSystem& files) {
  return commented(job_line(environment) + "\n" + system_line(files) + "\n") +
         commented(main_lines_of_lscpu(output_of({"lscpu"}, environment, runner))) +
         commented(output_of({"sh", "-c", "ulimit -a"}, environment, runner)) + "\n";
}

}  // namespace kiln
