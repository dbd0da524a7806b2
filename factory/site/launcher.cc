#include "factory/site/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr int kMostCpus = 4096;

JobSize read_size(const JsonNode& node, JobSize size) {
  if (auto cpus = node.find("cpus")) size.cpus = static_cast<int>(cpus->integer(1, kMostCpus));
  if (auto memory = node.find("memory")) size.memory = read_limit_of_size(*memory);
  if (auto time = node.find("time")) size.time = read_limit_of_time(*time);
  return size;
}

// kiln sets these options in every job. A site's value would override kiln's, and kiln could not find the
// job.
std::vector<std::string> read_arguments(const JsonNode& node) {
  constexpr std::array kOurs = {"--comment", "--job-name", "-J",         "--output", "-o",
                                "--error",   "-e",         "--parsable", "--wrap",   "--dependency",
                                "-d",        "--array",    "-a",         "--wait",   "-W"};
  std::vector<std::string> arguments;
  for (const JsonNode& item : node.items()) {
    std::string word = read_text(item);
    if (!word.starts_with('-'))
      item.fail(fmt::format("expected an option of sbatch, found '{}'", word),
                "for example \"--account=ai\"");
    const std::string option = word.substr(0, word.find('='));
    if (contains(kOurs, option)) item.fail(fmt::format("{} is kiln's own in every job", option));
    arguments.push_back(std::move(word));
  }
  return arguments;
}

// `partition`: what holds where it says nothing.
SlurmPartition read_partition(const JsonNode& node, SlurmPartition partition) {
  node.allow_only(keys_of("site/slurm_place"));
  if (auto name = node.find("partition")) partition.name = read_text(*name);
  if (auto arguments = node.find("arguments")) partition.arguments = read_arguments(*arguments);
  if (auto cpu = node.find("microarchitecture")) partition.microarchitecture = read_text(*cpu);
  partition.usual = read_size(node, partition.usual);
  if (auto most = node.find("most")) {
    most->allow_only(keys_of("site/slurm_most"));
    partition.most = read_size(*most, partition.most);
  }
  return partition;
}

bool asks(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) { return contains(word, kPartition); });
}

// At the object "slurm". What a partition does not say is as of "default". Throws Error(input).
SlurmSite read_slurm_site(const JsonNode& node) {
  node.allow_only(keys_of("site/slurm"));
  SlurmSite site;
  if (auto arguments = node.find("arguments")) site.arguments = read_arguments(*arguments);
  if (auto standard = node.find("default")) site.standard = read_partition(*standard, {});
  if (auto partitions = node.find("partitions"))
    for (const auto& [name, one] : partitions->members()) {
      SlurmPartition inherited = site.standard;
      inherited.arguments.clear();
      inherited.microarchitecture = !contains(name, ':') ? name : "";
      site.partitions.emplace(name, read_partition(one, inherited));
    }
  if (auto poll = node.find("poll")) {
    site.poll = read_limit_of_time(*poll);
    if (site.poll < std::chrono::seconds(1)) poll->fail("a controller is asked once a second at most");
  }
  if (auto patience = node.find("patience")) site.patience = read_limit_of_time(*patience);
  return site;
}

SlurmSite read_slurm(const JsonNode& launcher) {
  launcher.allow_only(keys_of("site/launcher"));
  return read_slurm_site(launcher.at("slurm"));
}

}  // namespace

SlurmPartition partition_named(const SlurmSite& site, const std::string& name) {
  if (auto found = site.partitions.find(name); found != site.partitions.end()) return found->second;
  for (const auto& [key, partition] : site.partitions)
    if (partition.name == name) return partition;
  SlurmPartition partition = site.standard;
  if (partition.name == name) return partition;
  partition.name = name;
  partition.arguments.clear();
  partition.microarchitecture.clear();
  return partition;
}

std::vector<std::string> partition_words(const SlurmSite& site, const SlurmPartition& partition) {
  std::vector<std::string> words;
  if (!partition.name.empty()) words.push_back("--partition=" + partition.name);
  words.insert(words.end(), site.arguments.begin(), site.arguments.end());
  words.insert(words.end(), partition.arguments.begin(), partition.arguments.end());
  return words;
}

Launcher read_launcher(const JsonNode& site) {
  Launcher launcher;
  const auto words = site.find("launcher");
  if (words && words->is_object())
    launcher.slurm = read_slurm(*words);
  else if (words)
    for (const JsonNode& word : words->items()) launcher.words.push_back(read_text(word));
  const auto partition = site.find("partition");
  if (partition) launcher.partition = read_text(*partition);
  if (partition && launcher.slurm)
    partition->fail("the launcher names its partitions itself", "in \"default\" of \"slurm\"");
  if (partition && !asks(launcher.words))
    partition->fail("no word of the launcher asks for a partition",
                    fmt::format("for example \"--partition={}\"", kPartition));
  if (words && asks(launcher.words) && !partition)
    words->fail(fmt::format("{} has no name", kPartition),
                "add \"partition\": the one for all that needs no other");
  return launcher;
}

void Launcher::ask_for(const std::string& name) {
  if (!slurm && !asks(words))
    throw Error(
        ExitCode::usage,
        words.empty() ? "the site file has no launcher, so there are no partitions"
                      : "no word of the site's launcher asks for a partition",
        fmt::format("\"launcher\": [\"srun\", \"-n1\", \"--partition={}\"], \"partition\": …", kPartition));
  asked = name;
}

std::vector<std::string> Launcher::prefix() const {
  std::vector<std::string> all = words;
  for (std::string& word : all)
    if (const std::size_t at = word.find(kPartition); at != std::string::npos)
      word.replace(at, std::string_view(kPartition).size(), asked.empty() ? partition : asked);
  return all;
}

}  // namespace kiln
