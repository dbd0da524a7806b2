#include "registry/deploy/detected_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"
#include "registry/deploy/infrastructure.h"

namespace kiln {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

struct SlurmNode {
  std::string name;
  std::set<std::string> features, partitions;
  MachineKind kind;
};

// Codes, and the words of Slurm's names for their models (`gpu:a100:4`). NVIDIA:
// developer.nvidia.com/cuda-gpus; AMD: LLVM's AMDGPU usage guide, "Processors".
constexpr std::pair<std::string_view, std::string_view> kModels[] = {
    {"nvidia:sm_60", "p100"},
    {"nvidia:sm_61", "p40 p4"},
    {"nvidia:sm_70", "v100"},
    {"nvidia:sm_75", "t4 rtx2080"},
    {"nvidia:sm_80", "a100 a30"},
    {"nvidia:sm_86", "a10 a40 a6000 a5000 rtx3090"},
    {"nvidia:sm_89", "l4 l40 l40s rtx4090"},
    {"nvidia:sm_90", "h100 h200 gh200"},
    {"nvidia:sm_100", "b200 gb200"},
    {"nvidia", "nvidia"},
    {"amd:gfx908", "mi100"},
    {"amd:gfx90a", "mi210 mi250 mi250x"},
    {"amd:gfx942", "mi300a mi300x mi325x"},
    {"amd", "amd"},
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!trimmed(line).empty()) lines.push_back(trimmed(line));
  return lines;
}

// "NodeName=n1 Sockets=2 OS=Linux 6.1": a word without '=' belongs to the value before it.
Fields fields_of(std::string_view line) {
  Fields fields;
  for (const std::string_view word : split(line, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals != word.npos && equals > 0) fields.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return fields;
}

std::string text_of(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() || found->second == "(null)" ? "" : found->second;
}

int number_in(std::string_view text, int otherwise) {
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number > 0 ? number : otherwise;
}

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (const std::string_view word : split(text, ','))
    if (!word.empty()) words.emplace(word);
  return words;
}

// "gpu:a100:4(S:0-1)", "gpu:2", "gpu:v100:1,gpu:a100:1": the first type, and how many of it.
void read_gres(const std::string& gres, MachineKind& kind) {
  for (const std::string_view part : split(gres, ',')) {
    const std::string_view plain = part.substr(0, part.find('('));
    const auto words = split(plain, ':');
    if (words.front() != "gpu") continue;
    const bool typed = words.size() > 2;
    kind.accelerators = words.size() > 1 ? number_in(words.back(), 1) : 1;
    kind.model = typed ? accelerator_named(std::string(words[1])) : "";
    return;
  }
}

// Of the features that archspec knows, the one that can run what is built for the others.
std::string microarchitecture_of(const std::set<std::string>& features, const Microarchitectures& cpus) {
  std::string best;
  for (const std::string& feature : features) {
    const std::string name = lower_case(feature);
    if (cpus.find(name) != nullptr && (best.empty() || cpus.runs(name, best))) best = name;
  }
  return best;
}

// "NVIDIA A100-SXM4-80GB, 8.0" a line: nvidia:sm_80.
std::string model_here(const MachineAnswers& answers) {
  for (const std::string_view line : lines_of(answers.gpus)) {
    const std::size_t comma = line.rfind(',');
    if (comma == line.npos) continue;
    std::string capability(trimmed(line.substr(comma + 1)));
    std::erase(capability, '.');
    if (number_in(capability, 0) > 0) return "nvidia:sm_" + capability;
  }
  return answers.host.accelerators.empty() ? "" : answers.host.accelerators.front();
}

// Kubernetes may know "n1" as "n1.cluster.site".
const MachineKind* labelled_kind(const std::string& name, const MachineAnswers& answers) {
  for (const LabelledNode& node : answers.labelled)
    if (node.name == name || node.name.starts_with(name + ".")) return &node.kind;
  return nullptr;
}

SlurmNode node_of(const Fields& fields, const MachineAnswers& answers, const Microarchitectures& cpus) {
  SlurmNode node;
  node.name = text_of(fields, "NodeName");
  node.features = words_of(text_of(fields, "AvailableFeatures"));
  node.partitions = words_of(text_of(fields, "Partitions"));
  node.kind.sockets = number_in(text_of(fields, "Sockets"), 1);
  node.kind.cores = number_in(text_of(fields, "CoresPerSocket"), 1);
  node.kind.threads = number_in(text_of(fields, "ThreadsPerCore"), 1);
  node.kind.memory = static_cast<std::uint64_t>(number_in(text_of(fields, "RealMemory"), 0)) << 20;
  node.kind.microarchitecture = microarchitecture_of(node.features, cpus);
  read_gres(text_of(fields, "Gres"), node.kind);
  if (const MachineKind* labelled = labelled_kind(node.name, answers)) {
    if (node.kind.microarchitecture.empty()) node.kind.microarchitecture = labelled->microarchitecture;
    if (!contains(node.kind.model, ':') && labelled->accelerators > 0) node.kind.model = labelled->model;
  }
  const bool here = node.name == answers.host_name;
  if (here && node.kind.microarchitecture.empty()) node.kind.microarchitecture = answers.host.cpu;
  if (here && node.kind.accelerators > 0 && !contains(node.kind.model, ':'))
    node.kind.model = model_here(answers);
  return node;
}

bool is_alike(const MachineKind& one, const MachineKind& other) {
  return one.sockets == other.sockets && one.cores == other.cores && one.threads == other.threads &&
         one.microarchitecture == other.microarchitecture && one.accelerators == other.accelerators &&
         one.model == other.model;
}

Json node_json(const MachineKind& kind) {
  Json json = {{"ncpus", kind.sockets}, {"cpu", {{"ncores", kind.cores}, {"nthreads", kind.threads}}}};
  if (!kind.microarchitecture.empty()) json["cpu"]["microarch"] = kind.microarchitecture;
  if (kind.memory > 0) json["memory"] = fmt::format("{}MiB", kind.memory >> 20);
  if (kind.accelerators == 0) return json;
  json["naccel"] = kind.accelerators;
  json["accel"] = {{"type", "gpu"}};
  if (!kind.model.empty()) json["accel"]["model"] = kind.model;
  return json;
}

using Group = std::vector<const SlurmNode*>;

std::vector<Group> groups_of(const std::vector<const SlurmNode*>& nodes) {
  std::vector<Group> groups;
  for (const SlurmNode* node : nodes) {
    const auto found = std::ranges::find_if(
        groups, [&](const Group& group) { return is_alike(group.front()->kind, node->kind); });
    if (found == groups.end())
      groups.push_back({node});
    else
      found->push_back(node);
  }
  return groups;
}

MachineKind kind_of(const Group& group) {
  MachineKind kind = group.front()->kind;
  for (const SlurmNode* node : group) kind.memory = std::min(kind.memory, node->kind.memory);
  return kind;
}

// A feature that all of the group have, and no other node of the partition: the microarchitecture's name,
// else the first; "" = there is none.
std::string constraint_of(const Group& group, const std::vector<const SlurmNode*>& all) {
  std::string found;
  for (const std::string& feature : group.front()->features) {
    const bool fits = std::ranges::all_of(all, [&](const SlurmNode* node) {
      const bool in_group = contains(group, node);
      return node->features.contains(feature) == in_group;
    });
    if (!fits) continue;
    if (lower_case(feature) == group.front()->kind.microarchitecture) return feature;
    if (found.empty()) found = feature;
  }
  return found;
}

Json partition_json(const Fields& fields, const std::vector<SlurmNode>& nodes,
                    std::vector<std::string>& notes) {
  const std::string name = text_of(fields, "PartitionName");
  std::vector<const SlurmNode*> own;
  for (const SlurmNode& node : nodes)
    if (node.partitions.contains(name)) own.push_back(&node);
  Json json = {{"nnodes", own.size()}};
  if (text_of(fields, "Default") == "YES") json["default"] = true;
  const std::vector<Group> groups = groups_of(own);
  for (const Group& group : groups) {
    const MachineKind kind = kind_of(group);
    if (kind.microarchitecture.empty())
      notes.push_back(
          fmt::format("no feature of {} names its microarchitecture: add 'microarch' to the partition {}",
                      group.front()->name, name));
    if (kind.accelerators > 0 && kind.model.empty())
      notes.push_back(fmt::format("the model of the GPUs of {} is not known: add it to the partition {}",
                                  group.front()->name, name));
    if (groups.size() == 1) {
      json["node"] = node_json(kind);
      return json;
    }
    Json item = {{"nnodes", group.size()}, {"node", node_json(kind)}};
    if (std::string constraint = constraint_of(group, own); !constraint.empty())
      item["constraint"] = std::move(constraint);
    json["kinds"].push_back(std::move(item));
  }
  return json;
}

// Without Slurm.
Json labelled_machines(const MachineAnswers& answers, std::vector<std::string>& notes) {
  const std::string name = "nodes";
  std::vector<SlurmNode> nodes;
  for (const LabelledNode& node : answers.labelled) nodes.push_back({node.name, {}, {name}, node.kind});
  return partition_json({{"PartitionName", name}, {"Default", "YES"}}, nodes, notes);
}

Json this_machine(const MachineAnswers& answers) {
  MachineKind kind;
  kind.cores = std::max(1, answers.host.cores);
  kind.microarchitecture = answers.host.cpu;
  kind.memory = answers.host.memory_bytes;
  const std::string model = model_here(answers);
  if (!model.empty())
    kind.accelerators = static_cast<int>(
        std::max({std::size_t{1}, lines_of(answers.gpus).size(), answers.host.accelerators.size()}));
  kind.model = model;
  return {{"default", true}, {"nnodes", 1}, {"node", node_json(kind)}};
}

}  // namespace

std::string accelerator_named(const std::string& type) {
  std::string name = lower_case(type), vendor;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_letter_or_digit(c); }, ' ');
  for (const std::string_view word : split(name, ' '))
    for (const auto& [code, models] : kModels) {
      const auto words = split(models, ' ');
      if (!contains(words, word)) continue;
      if (contains(code, ':')) return std::string(code);
      vendor = code;
    }
  return vendor;
}

DetectedMachines detected_machines(const MachineAnswers& answers, const std::string& name,
                                   const Microarchitectures& cpus) {
  std::vector<SlurmNode> nodes;
  for (const std::string_view line : lines_of(answers.nodes))
    if (const Fields fields = fields_of(line); !text_of(fields, "NodeName").empty())
      nodes.push_back(node_of(fields, answers, cpus));
  DetectedMachines found;
  Json partitions = Json::object();
  for (const std::string_view line : lines_of(answers.partitions)) {
    const Fields fields = fields_of(line);
    const std::string partition = text_of(fields, "PartitionName"), state = text_of(fields, "State");
    if (partition.empty() || (!state.empty() && state != "UP")) continue;
    Json json = partition_json(fields, nodes, found.notes);
    if (json["nnodes"] != 0) partitions[partition] = std::move(json);
  }
  const bool slurm = !partitions.empty();
  if (!slurm && !answers.labelled.empty())
    partitions["nodes"] = labelled_machines(answers, found.notes);
  else if (!slurm)
    partitions["local"] = this_machine(answers);
  found.infrastructure = {
      {"name", name},
      {"configuration", {{"scheduler", slurm ? "slurm" : "bash"}, {"partitions", std::move(partitions)}}}};
  return found;
}

}  // namespace kiln
