#include "factory/package/artifact.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/oci/default_path.h"
#include "factory/package/declared.h"

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
  if (!spec.command.empty()) {
    config.cmd = spec.command;
    config.entrypoint.clear();  // the base's would take the command for its words
  }
  config.history = history_of(built, created);
  config.diff_ids.clear();
  for (const BuiltLayer& layer : built.layers) config.diff_ids.push_back(layer.diff_id);
  return config;
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
  artifact.record = declared_record(spec, image.config.architecture, evidence.glibc_provided);
  for (const BuiltLayer& layer : built.layers) artifact.record.size += layer.blob.size;
  add_evidence_labels(evidence, artifact.record.labels);
  for (const auto& [name, value] : artifact.record.labels) image.config.labels[name] = value;
  for (const BuiltLayer& layer : built.layers) image.layers.push_back(layer.blob);
  image.tag = spec.tag;
  artifact.manifest = manifest_descriptor(image);
  artifact.record.evidence = std::move(evidence);
  artifact.record.created = rfc3339(epoch);
  artifact.record.manifest = artifact.manifest.digest;
  return artifact;
}

}  // namespace kiln
