#include "registry/deploy/infrastructure.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/record/gpu_code.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

constexpr int kMostInPartition = 1'000'000;

int count_at(const JsonNode& node, const char* key, int otherwise, int most) {
  auto value = present(node, key);
  return value ? read_count(*value, 1, most) : otherwise;
}

void read_accelerators(const JsonNode& node, MachineKind& kind) {
  auto number = present(node, "naccel"), model = present(node, "accel");
  if (number) kind.accelerators = read_count(*number, 0, 1024);
  if (number && kind.accelerators > 0 && !model)
    number->fail("'naccel' requires 'accel'",
                 R"(for example "accel": {"type": "gpu", "model": "nvidia:sm_80"})");
  if (model && !number) model->fail("'accel' requires 'naccel', the number in a node");
  if (!model) return;
  model->allow_only({"type", "model"});
  if (auto name = present(*model, "model")) kind.model = name->line_of_text();
}

MachineKind read_node(const JsonNode& node) {
  node.allow_only({"ncpus", "cpu", "naccel", "accel", "memory", "storage"});
  MachineKind kind;
  kind.sockets = count_at(node, "ncpus", 1, 1024);
  if (auto cpu = present(node, "cpu")) {
    cpu->allow_only({"arch", "microarch", "ncores", "nthreads"});
    kind.cores = count_at(*cpu, "ncores", 1, 65'536);
    kind.threads = count_at(*cpu, "nthreads", 1, 16);
    if (auto microarch = present(*cpu, "microarch")) kind.microarchitecture = microarch->name();
  }
  read_accelerators(node, kind);
  if (auto memory = present(node, "memory"))
    kind.memory = memory->is_number() ? static_cast<std::uint64_t>(memory->integer(1, 1ll << 50))
                                      : read_memory(*memory);
  return kind;
}

// What nodes of both kinds have. Without one microarchitecture and one model, the node names no host.
MachineKind common_of(const MachineKind& one, const MachineKind& other) {
  MachineKind common = one.all_cores() <= other.all_cores() ? one : other;
  common.threads = std::min(one.threads, other.threads);
  common.accelerators = std::min(one.accelerators, other.accelerators);
  common.memory = one.memory == 0 || other.memory == 0 ? 0 : std::min(one.memory, other.memory);
  if (one.microarchitecture != other.microarchitecture) common.microarchitecture.clear();
  if (one.model != other.model) common.model.clear();
  return common;
}

std::optional<MachineKind> common_node(const std::vector<AlikeNodes>& kinds) {
  std::optional<MachineKind> common;
  for (const AlikeNodes& kind : kinds) common = common ? common_of(*common, kind.node) : kind.node;
  return common;
}

void read_kinds(const JsonNode& node, Partition& partition) {
  for (const JsonNode& item : node.items()) {
    item.allow_only({"constraint", "nnodes", "node"});
    AlikeNodes kind;
    if (auto constraint = present(item, "constraint")) kind.constraint = constraint->name();
    kind.nodes = count_at(item, "nnodes", 0, kMostInPartition);
    kind.node = read_node(item.at("node"));
    for (const AlikeNodes& before : partition.kinds)
      if (!kind.constraint.empty() && before.constraint == kind.constraint)
        item.fail(fmt::format("a second kind of nodes with the constraint '{}'", kind.constraint));
    partition.kinds.push_back(std::move(kind));
  }
  partition.node = common_node(partition.kinds);
}

void read_storage(const JsonNode& node, Infrastructure& infrastructure) {
  for (const auto& [url, value] : node.members()) {
    value.allow_only({"storage_class"});
    const JsonNode name = value.at("storage_class");
    std::string word = storage_class_named(name.line_of_text());
    if (!contains(storage_classes(), word))
      name.fail(
          fmt::format("unknown storage class '{}': expected default-common, default-high, default-ssd or "
                      "default-ultra_high",
                      word));
    infrastructure.storage[url] = std::move(word);
  }
}

void read_partitions(const JsonNode& node, Infrastructure& infrastructure) {
  bool standard = false;
  for (const auto& [name, value] : node.members()) {
    value.allow_only({"nnodes", "default", "node", "kinds", "storage"});
    if (name.empty() || !is_letter_or_digit(name.front()) ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-") !=
            name.npos)
      throw Error(ExitCode::input, node.where_key(name),
                  "a partition's name has letters, digits and _ . @ + -");
    Partition partition{name, count_at(value, "nnodes", 0, kMostInPartition), false, std::nullopt};
    if (auto is_default = present(value, "default")) partition.standard = flag(*is_default);
    if (partition.standard && standard) value.fail("a second default partition");
    standard = standard || partition.standard;
    auto kind = present(value, "node"), kinds = present(value, "kinds");
    if (kind && kinds)
      kinds->fail("'node' is given as well: a partition has nodes of one kind, or of several");
    if (kind) partition.node = read_node(*kind);
    if (kinds) read_kinds(*kinds, partition);
    infrastructure.partitions.emplace(name, std::move(partition));
  }
}

}  // namespace

Partition part_for(const Partition& partition, const JobRequest& job) {
  Partition part = partition;
  std::erase_if(part.kinds, [&](const AlikeNodes& kind) {
    const bool chosen = job.constraint.empty() || kind.constraint == job.constraint;
    return !chosen || kind.node.accelerators < job.gpus.value_or(0);
  });
  // A constraint of several features, or of one that all have, says nothing of the kinds.
  if (part.kinds.empty() || part.kinds.size() == partition.kinds.size()) return partition;
  part.node = common_node(part.kinds);
  part.nodes = 0;
  for (const AlikeNodes& kind : part.kinds) {
    if (kind.nodes == 0) {
      part.nodes = partition.nodes;
      break;
    }
    part.nodes += kind.nodes;
  }
  return part;
}

const std::vector<std::string>& storage_classes() {
  static const std::vector<std::string> kClasses = {"default-common", "default-high", "default-ssd",
                                                    "default-ultra_high"};
  return kClasses;
}

std::string storage_class_named(const std::string& name) {
  auto plain = [](std::string text) {
    std::ranges::replace(text, '-', '_');
    return text;
  };
  for (const std::string& known : storage_classes())
    if (plain(known) == plain(name)) return known;
  return name;
}

std::string MachineKind::host_name() const {
  if (microarchitecture.empty()) return "";
  if (accelerators == 0) return microarchitecture;
  const std::string word = lower_case(model);
  const std::string code = word.starts_with("sm_")   ? "nvidia:" + word
                           : word.starts_with("gfx") ? "amd:" + word
                                                     : word;
  return is_host_accelerator(code) ? microarchitecture + "," + code : "";
}

const Partition* Infrastructure::standard_partition() const {
  if (partitions.size() == 1) return &partitions.begin()->second;
  for (const auto& [partition_name, partition] : partitions)
    if (partition.standard) return &partition;
  return nullptr;
}

Infrastructure read_infrastructure(const JsonNode& root, const std::string& name) {
  Infrastructure infrastructure;
  infrastructure.name = name;
  if (auto own = present(root, "name")) infrastructure.name = own->line_of_text();
  JsonNode node = root;
  std::vector<std::string> known = {"scheduler", "storage", "partitions", "container_runtime", "mpi"};
  if (auto configuration = present(root, "configuration")) {
    root.allow_only({"id", "name", "disabled", "description", "configuration"});
    node = *configuration;
  } else {
    known.insert(known.end(), {"id", "name", "disabled", "description"});
  }
  node.allow_only(known);
  if (auto scheduler = present(node, "scheduler")) infrastructure.scheduler = read_scheduler(*scheduler);
  if (auto storage = present(node, "storage")) read_storage(*storage, infrastructure);
  if (auto partitions = present(node, "partitions")) read_partitions(*partitions, infrastructure);
  if (auto runtime = present(node, "container_runtime"))
    infrastructure.runtime = read_container_runtime(*runtime);
  if (auto mpi = present(node, "mpi")) infrastructure.mpi = mpi->name();
  return infrastructure;
}

}  // namespace kiln
