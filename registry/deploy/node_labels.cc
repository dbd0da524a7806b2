#include "registry/deploy/node_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "factory/base/text.h"
#include "registry/deploy/detected_machines.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

using Labels = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kFeature = "feature.node.kubernetes.io/";

Labels texts_of(const JsonNode& node, const char* key) {
  Labels texts;
  if (const auto members = present(node, key))
    for (const auto& [name, value] : members->members())
      if (value.is_string()) texts.emplace(name, value.string());
  return texts;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "263842312Ki", "257Gi" or bytes (Kubernetes, "Resource units"). 0 for anything else.
std::uint64_t bytes_of(const std::string& quantity) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kUnits = {
      {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}}};
  const std::uint64_t number = number_of(quantity);
  for (const auto& [unit, shift] : kUnits)
    if (quantity.ends_with(unit)) return number >> (64 - shift) == 0 ? number << shift : 0;
  return std::ranges::all_of(quantity, is_digit) ? number : 0;
}

// NFD's default list leaves out BMI, F16C, LZCNT, SSE and others (nfd-worker, cpu.cpuid.attributeBlacklist),
// which each processor with AVX2 and FMA has.
std::string x86_level(const Labels& labels) {
  auto has = [&](std::string_view flag) {
    return value_or(labels, fmt::format("{}cpu-cpuid.{}", kFeature, flag)) == "true";
  };
  auto has_all = [&](std::initializer_list<std::string_view> flags) {
    return std::ranges::all_of(flags, has);
  };
  if (!has_all({"AVX", "AVX2", "FMA3"})) return has("AVX") ? "x86_64_v2" : "x86_64";
  const bool fourth = has_all({"AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"});
  return fourth ? "x86_64_v4" : "x86_64_v3";
}

std::string labelled_microarchitecture(const Labels& labels) {
  std::string architecture = value_or(labels, "kubernetes.io/arch");
  if (architecture == "arm64") return "aarch64";
  if (architecture != "amd64") return architecture;
  const bool labelled = std::ranges::any_of(labels, [](const auto& label) {
    return label.first.starts_with(std::string(kFeature) + "cpu-cpuid.");
  });
  return labelled ? x86_level(labels) : "x86_64";
}

// The compute capability is exact; a product's name is not always known.
std::string nvidia_model(const Labels& labels) {
  const std::string major = value_or(labels, "nvidia.com/gpu.compute.major");
  const std::string minor = value_or(labels, "nvidia.com/gpu.compute.minor");
  const bool exact = number_of(major) > 0 && !minor.empty() && std::ranges::all_of(major + minor, is_digit);
  return exact ? "nvidia:sm_" + major + minor : accelerator_named(value_or(labels, "nvidia.com/gpu.product"));
}

int count_of(const std::string& text) {
  constexpr std::uint64_t kMost = 1024;  // of a node
  return static_cast<int>(std::min(number_of(text), kMost));
}

void read_accelerators(const Labels& labels, const Labels& capacity, MachineKind& kind) {
  kind.accelerators = count_of(value_or(labels, "nvidia.com/gpu.count"));
  if (kind.accelerators == 0) kind.accelerators = count_of(value_or(capacity, "nvidia.com/gpu"));
  if (kind.accelerators > 0) {
    kind.model = nvidia_model(labels);
    return;
  }
  kind.accelerators = count_of(value_or(capacity, "amd.com/gpu"));
  if (kind.accelerators > 0) kind.model = accelerator_named(value_or(labels, "amd.com/gpu.product-name"));
}

LabelledNode labelled_node(const JsonNode& node) {
  constexpr std::uint64_t kMostProcessors = 1 << 16;
  const JsonNode metadata = node.at("metadata");
  const Labels labels = texts_of(metadata, "labels");
  const auto status = present(node, "status");
  const Labels capacity = status ? texts_of(*status, "capacity") : Labels();
  LabelledNode found{metadata.at("name").line_of_text(), {}};
  MachineKind& kind = found.kind;
  const bool threaded = value_or(labels, std::string(kFeature) + "cpu-hardware_multithreading") == "true";
  kind.threads = threaded ? 2 : 1;
  const auto processors = static_cast<int>(std::min(number_of(value_or(capacity, "cpu")), kMostProcessors));
  kind.cores = std::max(1, processors / kind.threads);
  kind.memory = bytes_of(value_or(capacity, "memory"));
  kind.microarchitecture = labelled_microarchitecture(labels);
  read_accelerators(labels, capacity, kind);
  return found;
}

}  // namespace

std::vector<LabelledNode> read_labelled_nodes(const JsonNode& root) {
  std::vector<LabelledNode> nodes;
  if (const auto items = present(root, "items")) {
    for (const JsonNode& node : items->items()) nodes.push_back(labelled_node(node));
  } else {
    nodes.push_back(labelled_node(root));
  }
  if (nodes.empty()) root.fail("there is no node", "`kubectl get nodes -o json` prints them");
  return nodes;
}

}  // namespace kiln
