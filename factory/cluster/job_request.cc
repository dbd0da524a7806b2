#include "factory/cluster/job_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::array kVendors = {"nvidia", "amd", "intel"};

bool is_accelerator(const std::string& name) {
  const std::string vendor = name.substr(0, name.find(':'));
  return std::ranges::find(kVendors, vendor) != kVendors.end();
}

// A GPU's architecture, as compilers name it, with its vendor.
std::string accelerator_of(const std::string& architecture) {
  if (architecture.starts_with("sm_") || architecture.starts_with("compute_"))
    return "nvidia:" + architecture;
  return architecture.starts_with("gfx") ? "amd:" + architecture : architecture;
}

// How many generations lie between: archspec's `ancestors` are in their order.
std::size_t distance(const Microarchitecture& from, const std::string& to) {
  const auto at = std::ranges::find(from.ancestors, to);
  return from.name == to ? 0 : static_cast<std::size_t>(at - from.ancestors.begin()) + 1;
}

const SlurmPartition* of_accelerator(const SlurmSite& site, const std::vector<std::string>& accelerators) {
  for (bool exact : {true, false})
    for (const std::string& name : accelerators) {
      auto found = site.partitions.find(exact ? name : name.substr(0, name.find(':')));
      if (found != site.partitions.end()) return &found->second;
    }
  return nullptr;
}

void add_listed(std::set<std::string>& names, std::string_view list) {
  for (const std::string_view name : split(list, ','))
    if (!trimmed(name).empty()) names.emplace(trimmed(name));
}

// The values of an option of sbatch in both of its spellings: "--account=x", "--account x", "-Ax", "-A x".
void add_option(std::set<std::string>& names, const std::vector<std::string>& words,
                const std::string& long_name, const std::string& short_name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == long_name || word == short_name) {
      if (i + 1 < words.size()) add_listed(names, words[++i]);
    } else if (word.starts_with(long_name + "=")) {
      add_listed(names, std::string_view(word).substr(long_name.size() + 1));
    } else if (word.starts_with(short_name) && !word.starts_with("--")) {
      add_listed(names, std::string_view(word).substr(short_name.size()));
    }
  }
}

void add_words(SlurmNames& names, const std::vector<std::string>& words) {
  add_option(names.partitions, words, "--partition", "-p");
  add_option(names.accounts, words, "--account", "-A");
}

void add_partition(SlurmNames& names, const SlurmPartition& partition) {
  add_listed(names.partitions, partition.name);
  add_words(names, partition.arguments);
}

constexpr std::uint64_t kOneMiB = 1u << 20;
constexpr std::uint64_t kOfKiln = 256 * kOneMiB;  // kiln step, the engine, and files that are being written
constexpr double kMarginOfTime = 1.5;
constexpr double kLeastTime = 600;  // seconds: the start of a job, a slow file system
constexpr double kMarginOfCpus = 1.25;

template <typename Value>
Value at_most(Value value, Value most) {
  return most > Value{} ? std::min(value, most) : value;
}

int cpus_for(const SlurmPartition& partition, double busy) {
  if (busy <= 0) return partition.usual.cpus;
  const int used = std::max(1, static_cast<int>(std::ceil(busy)));
  const int more = std::max(1, static_cast<int>(std::ceil(busy * kMarginOfCpus)));
  // Where nobody says how many a machine has, no more than one had.
  const int most = std::max(partition.most.cpus, partition.most.cpus > 0 ? 0 : partition.usual.cpus);
  return most > 0 ? more : used;
}

double seconds_for(const StepNeed& need) {
  if (need.seconds <= 0) return 0;
  return std::max(kLeastTime, kMarginOfTime * (need.seconds + 3 * need.deviation));
}

// The longest time that was not enough, among the last runs of the step.
double seconds_that_were_too_few(const PastRun& step, const std::vector<PastRun>& history) {
  double most = 0;
  for (const PastRun& run : history)
    if (run.key == step.key && run.end == PastRun::End::out_of_time) most = std::max(most, run.seconds);
  return most;
}

}  // namespace

PartitionNeed partition_need(const Step& step) {
  PartitionNeed need;
  need.cpu = value_or(step.parameters, "KILN_CPU_TARGET");
  if (step.kind != StepKind::test) return need;
  std::istringstream words(value_or(step.parameters, "KILN_GPU_TARGETS"));
  for (std::string word; words >> word;) need.accelerators.push_back(accelerator_of(word));
  return need;
}

void check_partitions(const SlurmSite& site, const Microarchitectures& cpus, const std::string& file) {
  for (const auto& [name, partition] : site.partitions) {
    const bool known = is_accelerator(name) || cpus.find(name) != nullptr;
    const std::string& cpu = known ? partition.microarchitecture : name;
    if (known && (cpu.empty() || cpus.find(cpu) != nullptr)) continue;
    throw Error(ExitCode::input, {file, 0, 0, "/launcher/slurm/partitions/" + name},
                fmt::format("archspec knows no microarchitecture '{}'", cpu),
                hint_for_unknown_cpu(cpu, cpus));
  }
  const std::string& cpu = site.standard.microarchitecture;
  if (!cpu.empty() && cpus.find(cpu) == nullptr)
    throw Error(ExitCode::input, {file, 0, 0, "/launcher/slurm/default/microarchitecture"},
                fmt::format("archspec knows no microarchitecture '{}'", cpu),
                hint_for_unknown_cpu(cpu, cpus));
}

SlurmPartition choose_partition(const SlurmSite& site, const PartitionNeed& need,
                                const Microarchitectures& cpus) {
  if (const SlurmPartition* found = of_accelerator(site, need.accelerators)) return *found;
  const Microarchitecture* wanted = cpus.find(need.cpu);
  if (wanted == nullptr || wanted->ancestors.empty()) return site.standard;
  if (cpus.runs(site.standard.microarchitecture, wanted->name)) return site.standard;
  const SlurmPartition* nearest = nullptr;
  std::size_t least = 0;
  for (const auto& [name, partition] : site.partitions) {
    const Microarchitecture* machine =
        is_accelerator(name) ? nullptr : cpus.find(partition.microarchitecture);
    if (machine == nullptr || !cpus.runs(machine->name, wanted->name)) continue;
    const std::size_t far = distance(*machine, wanted->name);
    if (nearest != nullptr && far >= least) continue;
    nearest = &partition;
    least = far;
  }
  return nearest == nullptr ? site.standard : *nearest;
}

SlurmNames names_of(const SlurmSite& site) {
  SlurmNames names;
  add_words(names, site.arguments);
  add_partition(names, site.standard);
  for (const auto& [key, partition] : site.partitions) add_partition(names, partition);
  return names;
}

std::set<std::string> partitions_in(std::string_view text) {
  constexpr std::string_view kName = "PartitionName=";
  std::set<std::string> names;
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(kName)) names.emplace(line.substr(kName.size(), line.find(' ') - kName.size()));
  return names;
}

std::set<std::string> accounts_in(std::string_view text) {
  std::set<std::string> names;
  for (const std::string_view line : split(text, '\n'))
    if (!trimmed(line).empty()) names.emplace(trimmed(line));
  return names;
}

JobSize whole_node_size(const SlurmPartition& partition, std::chrono::seconds time) {
  JobSize size;
  const std::chrono::seconds wanted = time.count() > 0 ? time : partition.usual.time;
  size.time =
      at_most<std::chrono::seconds>(std::chrono::ceil<std::chrono::minutes>(wanted), partition.most.time);
  return size;
}

std::uint64_t grown_memory(std::uint64_t had) { return 2 * had; }
std::chrono::seconds grown_time(std::chrono::seconds had) { return 2 * had; }

JobSize job_size(const SlurmPartition& partition, const PastRun& step, const std::vector<PastRun>& history,
                 const JobSize& least) {
  const StepNeed need = need_of(step, history);
  JobSize size;
  size.cpus = at_most(std::max(least.cpus, cpus_for(partition, need.processors)),
                      partition.most.cpus > 0 ? partition.most.cpus : partition.usual.cpus);
  size.memory = need.memory > 0 ? need.memory + kOfKiln : partition.usual.memory;
  size.memory = at_most(std::max(size.memory, least.memory), partition.most.memory);
  size.memory = (size.memory + kOneMiB - 1) / kOneMiB * kOneMiB;
  double seconds = seconds_for(need);
  if (seconds <= 0) seconds = static_cast<double>(partition.usual.time.count());
  seconds = std::max(
      {seconds, 2 * seconds_that_were_too_few(step, history), static_cast<double>(least.time.count())});
  const std::chrono::minutes minutes(static_cast<std::int64_t>(std::ceil(seconds / 60)));
  size.time = at_most<std::chrono::seconds>(minutes, partition.most.time);
  return size;
}

std::vector<std::string> size_words(const JobSize& size) {
  std::vector<std::string> words;
  if (size.cpus > 0) words.push_back(fmt::format("--cpus-per-task={}", size.cpus));
  if (size.memory > 0) words.push_back(fmt::format("--mem={}M", (size.memory + kOneMiB - 1) / kOneMiB));
  if (size.time.count() > 0) words.push_back(fmt::format("--time={}", (size.time.count() + 59) / 60));
  return words;
}

}  // namespace kiln
