#include "package/artifact.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/default_path.h"
#include "registry/cuda_drivers.h"

namespace kiln {
namespace {

void set_variable(std::vector<std::string>& env, const std::string& name, const std::string& value) {
  auto found = std::find_if(env.begin(), env.end(),
                            [&](const std::string& entry) { return entry.starts_with(name + "="); });
  if (found == env.end())
    env.push_back(name + "=" + value);
  else
    *found = name + "=" + value;
}

// The base's history counts for its layers only when it is complete; ours follows.
std::vector<HistoryEntry> history_of(const LayerChain& built, const std::string& created) {
  std::vector<HistoryEntry> history;
  std::size_t from_base = built.base ? built.base->diff_ids.size() : 0;
  auto holds_layer = [](const HistoryEntry& entry) { return !entry.empty_layer; };
  if (built.base && static_cast<std::size_t>(std::count_if(
                        built.base->history.begin(), built.base->history.end(), holds_layer)) == from_base)
    history = built.base->history;
  else
    from_base = 0;
  for (std::size_t i = from_base; i < built.layers.size(); ++i)
    history.push_back({created, built.layers[i].created_by, false});
  return history;
}

// No platform variant: containerd refuses an image of amd64/v3 on a host that calls itself amd64. The
// microarchitecture is in labels and index.
ImageConfig config_of(const ImageSpec& spec, const LayerChain& built, const std::string& created) {
  ImageConfig config = built.base.value_or(ImageConfig{});
  config.created = created;
  if (std::none_of(config.env.begin(), config.env.end(),
                   [](const auto& entry) { return entry.starts_with("PATH="); }))
    config.env.insert(config.env.begin(), std::string("PATH=") + kDefaultPath);
  for (const auto& [name, value] : spec.environment) set_variable(config.env, name, value);
  for (const auto& [name, value] : spec.labels) config.labels[name] = value;
  if (!spec.command.empty()) {
    config.cmd = spec.command;
    config.entrypoint.clear();  // the base's would take the command for its words
  }
  config.history = history_of(built, created);
  config.diff_ids.clear();
  for (const BuiltLayer& layer : built.layers) config.diff_ids.push_back(layer.diff_id);
  return config;
}

ImageRecord record_of(const ImageSpec& spec, const LayerChain& built) {
  ImageRecord record;
  record.repository = spec.repository;
  record.tag = spec.tag;
  record.immutable_tag = spec.immutable_tag;
  record.key = spec.key;
  record.cell = spec.request.id;
  const ComponentUse& main = main_component(spec.components);
  record.application = main.name;
  record.version = main.version;
  record.method = main.method;
  record.optimised = spec.optimised;
  for (const ComponentUse& use : spec.components)
    record.components.push_back(
        {std::string(name_of(use.kind)), use.name, use.version, use.method, use.optimised});
  record.cpu = spec.target.cpu;
  record.accelerators = spec.target.accelerators;
  record.labels = spec.labels;
  for (const BuiltLayer& layer : built.layers) record.size += layer.blob.size;
  return record;
}

// The part of a label's name behind the prefix, for each that has it.
std::map<std::string, std::string> labels_below(const std::map<std::string, std::string>& labels,
                                                const std::string& prefix) {
  std::map<std::string, std::string> below;
  for (const auto& [name, value] : labels)
    if (name.starts_with(prefix)) below.emplace(name.substr(prefix.size()), value);
  return below;
}

// What the image needs of a host: by the facts of its components, the MPI that is in it, and its own glibc.
HostNeeds needs_of(const ImageRecord& record, const EvidenceRecord& evidence, const std::string& platform) {
  auto fact = [&](const char* name) {
    auto found = record.facts.find(name);
    return found == record.facts.end() ? Version() : Version(found->second);
  };
  HostNeeds needs;
  if (!record.accelerators.empty()) {
    needs.cuda = fact("cuda");
    needs.driver = fact("driver");
    if (needs.driver.text().empty()) needs.driver = oldest_driver(needs.cuda);
  }
  needs.glibc = evidence.glibc_provided.empty() ? fact("glibc") : Version(evidence.glibc_provided);
  needs.kernel = kernel_floor(needs.glibc, platform);
  for (const ComponentRecord& component : record.components)
    if (!mpi_family(component.name).empty()) needs.mpi = {component.name, component.version};
  if (auto mpi = record.facts.find("mpi"); mpi != record.facts.end()) needs.mpi = mpi_library(mpi->second);
  if (auto vendor = record.facts.find("cpu_vendor"); vendor != record.facts.end())
    needs.vendor = vendor->second;
  return needs;
}

void add_needs_labels(const HostNeeds& needs, std::map<std::string, std::string>& labels) {
  const Json json = to_json(needs);
  for (const auto& [name, value] : json.items())
    labels["io.kiln.requires." + name] = value.get<std::string>();
}

void add_evidence_labels(const EvidenceRecord& evidence, std::map<std::string, std::string>& labels) {
  if (evidence.empty()) return;
  auto add = [&](const char* name, const std::vector<std::string>& words) {
    if (!words.empty())
      labels[fmt::format("io.kiln.evidence.{}", name)] = fmt::format("{}", fmt::join(words, " "));
  };
  labels["io.kiln.evidence.verdict"] = evidence.verdict;
  add("unconditional", evidence.unconditional);
  add("dispatched", evidence.dispatched);
  add("gpu", evidence.gpu);
  if (!evidence.glibc.empty()) labels["io.kiln.evidence.glibc"] = evidence.glibc;
  if (!evidence.flags.empty())
    labels["io.kiln.evidence.flags"] = fmt::format("{}", fmt::join(evidence.flags, "; "));
}

}  // namespace

Artifact compose(const ImageSpec& spec, const LayerChain& built, EvidenceRecord evidence,
                 std::int64_t epoch) {
  Artifact artifact;
  LayoutImage& image = artifact.image;
  image.config = config_of(spec, built, rfc3339(epoch));
  artifact.record = record_of(spec, built);
  artifact.record.facts = labels_below(spec.labels, "io.kiln.facts.");
  artifact.record.needs = needs_of(artifact.record, evidence, image.config.architecture);
  for (auto* labels : {&image.config.labels, &artifact.record.labels}) {
    add_needs_labels(artifact.record.needs, *labels);
    add_evidence_labels(evidence, *labels);
  }
  for (const BuiltLayer& layer : built.layers) image.layers.push_back(layer.blob);
  image.tag = spec.tag;
  artifact.manifest = manifest_descriptor(image);
  artifact.record.evidence = std::move(evidence);
  artifact.record.created = rfc3339(epoch);
  artifact.record.manifest = artifact.manifest.digest;
  return artifact;
}

}  // namespace kiln
