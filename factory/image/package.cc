#include "image/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "registry/referrer.h"

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
std::vector<HistoryEntry> history_of(const StepRecord& last, const std::string& created) {
  std::vector<HistoryEntry> history;
  std::size_t from_base = last.base ? last.base->diff_ids.size() : 0;
  auto holds_layer = [](const HistoryEntry& entry) { return !entry.empty_layer; };
  if (last.base && static_cast<std::size_t>(std::count_if(
                       last.base->history.begin(), last.base->history.end(), holds_layer)) == from_base)
    history = last.base->history;
  else
    from_base = 0;
  for (std::size_t i = from_base; i < last.layers.size(); ++i)
    history.push_back({created, last.layers[i].created_by, false});
  return history;
}

// No platform variant: containerd refuses an image of amd64/v3 on a host that calls itself amd64. The
// microarchitecture is in labels and index.
ImageConfig config_of(const ImageSpec& spec, const StepRecord& last, const std::string& created) {
  ImageConfig config = last.base.value_or(ImageConfig{});
  config.created = created;
  if (std::none_of(config.env.begin(), config.env.end(),
                   [](const auto& entry) { return entry.starts_with("PATH="); }))
    config.env.insert(config.env.begin(), std::string("PATH=") + kDefaultPath);
  for (const auto& [name, value] : spec.environment) set_variable(config.env, name, value);
  for (const auto& [name, value] : spec.labels) config.labels[name] = value;
  if (!spec.command.empty()) config.cmd = spec.command;
  config.history = history_of(last, created);
  config.diff_ids.clear();
  for (const LayerRecord& layer : last.layers) config.diff_ids.push_back(layer.diff_id);
  return config;
}

ImageRecord record_of(const ImageSpec& spec, const StepRecord& last) {
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
  for (const LayerRecord& layer : last.layers) record.size += layer.blob.size;
  return record;
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
  if (!evidence.flags.empty())
    labels["io.kiln.evidence.flags"] = fmt::format("{}", fmt::join(evidence.flags, "; "));
}

}  // namespace

LayoutImage compose_image(const ImageSpec& spec, const StepRecord& last, std::int64_t epoch,
                          const EvidenceRecord& evidence) {
  LayoutImage image;
  image.config = config_of(spec, last, rfc3339(epoch));
  add_evidence_labels(evidence, image.config.labels);
  for (const LayerRecord& layer : last.layers) image.layers.push_back(layer.blob);
  image.tag = spec.tag;
  return image;
}

ImageRecord package_image(const ImageSpec& spec, const StepRecord& last, const StatePaths& state,
                          const BlobStore& store, FileSystem& files, std::int64_t epoch,
                          const EvidenceRecord& evidence, std::vector<Attachment> attachments) {
  ImageRecord record = record_of(spec, last);
  record.evidence = evidence;
  record.attachments = std::move(attachments);
  add_evidence_labels(evidence, record.labels);
  record.created = rfc3339(epoch);
  LayoutImage image = compose_image(spec, last, epoch, evidence);
  for (const Attachment& attachment : record.attachments)
    if (!attachment.referrer.empty()) image.referrers.push_back(referrer_descriptor(attachment, store));
  fs::path layout = state.layout(spec.repository, spec.immutable_tag);
  // Nothing may promise a layout while it is replaced.
  files.remove_all(state.built(record_name(spec)));
  record.manifest = write_layout(layout, image, store, files).manifest.digest;
  record.layout = layout.lexically_relative(state.root()).string();
  files.write(state.built(record_name(spec)), to_json(record).dump(1));
  return record;
}

}  // namespace kiln
