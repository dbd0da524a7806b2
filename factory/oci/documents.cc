#include "factory/oci/documents.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

std::map<std::string, std::string> string_map(const std::optional<JsonNode>& node) {
  std::map<std::string, std::string> map;
  if (!node || node->is_null()) return map;
  for (const auto& [key, value] : node->members()) map[key] = value.string();
  return map;
}

std::vector<std::string> string_list(const std::optional<JsonNode>& node) {
  if (!node || node->is_null()) return {};
  return node->strings();
}

std::string text_or_empty(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found && !found->is_null() ? found->string() : "";
}

Digest digest_of(const JsonNode& node) {
  const std::string text = node.string();
  return node.placed([&] { return Digest::parse(text); });
}

}  // namespace

bool is_artifact_type(std::string_view type) {
  return !type.empty() && type != media_type::kConfig &&
         type != "application/vnd.docker.container.image.v1+json";
}

Json to_json(const Descriptor& descriptor) {
  Json json{
      {"mediaType", descriptor.media_type}, {"digest", descriptor.digest.text()}, {"size", descriptor.size}};
  if (!descriptor.annotations.empty()) json["annotations"] = descriptor.annotations;
  if (!descriptor.artifact_type.empty()) json["artifactType"] = descriptor.artifact_type;
  return json;
}

Json to_json(const ImageConfig& config) {
  Json inner = Json::object();
  if (!config.user.empty()) inner["User"] = config.user;
  if (!config.working_dir.empty()) inner["WorkingDir"] = config.working_dir;
  if (!config.env.empty()) inner["Env"] = config.env;
  if (!config.entrypoint.empty()) inner["Entrypoint"] = config.entrypoint;
  if (!config.cmd.empty()) inner["Cmd"] = config.cmd;
  if (!config.labels.empty()) inner["Labels"] = config.labels;
  Json json{{"architecture", config.architecture}, {"os", config.os}, {"config", inner}};
  if (!config.created.empty()) json["created"] = config.created;
  if (!config.variant.empty()) json["variant"] = config.variant;
  Json diff_ids = Json::array();
  for (const Digest& diff_id : config.diff_ids) diff_ids.push_back(diff_id.text());
  json["rootfs"] = {{"type", "layers"}, {"diff_ids", diff_ids}};
  Json history = Json::array();
  for (const HistoryEntry& entry : config.history) {
    Json item = Json::object();
    if (!entry.created.empty()) item["created"] = entry.created;
    if (!entry.created_by.empty()) item["created_by"] = entry.created_by;
    if (entry.empty_layer) item["empty_layer"] = true;
    history.push_back(item);
  }
  if (!history.empty()) json["history"] = history;
  return json;
}

Json to_json(const Manifest& manifest) {
  Json layers = Json::array();
  for (const Descriptor& layer : manifest.layers) layers.push_back(to_json(layer));
  Json json{{"schemaVersion", 2},
            {"mediaType", media_type::kManifest},
            {"config", to_json(manifest.config)},
            {"layers", layers}};
  if (!manifest.annotations.empty()) json["annotations"] = manifest.annotations;
  if (!manifest.artifact_type.empty()) json["artifactType"] = manifest.artifact_type;
  if (manifest.subject) json["subject"] = to_json(*manifest.subject);
  return json;
}

Descriptor descriptor_from_json(const JsonNode& node) {
  Descriptor descriptor;
  descriptor.media_type = node.at("mediaType").string();
  descriptor.digest = digest_of(node.at("digest"));
  descriptor.size = static_cast<std::uint64_t>(node.at("size").integer(0, INT64_MAX));
  descriptor.annotations = string_map(node.find("annotations"));
  descriptor.artifact_type = text_or_empty(node, "artifactType");
  return descriptor;
}

ImageConfig image_config_from_json(const JsonNode& node) {
  ImageConfig config;
  config.created = text_or_empty(node, "created");
  config.architecture = node.at("architecture").string();
  config.os = node.at("os").string();
  config.variant = text_or_empty(node, "variant");
  auto inner = node.find("config");
  if (inner && !inner->is_null()) {
    config.user = text_or_empty(*inner, "User");
    config.working_dir = text_or_empty(*inner, "WorkingDir");
    config.env = string_list(inner->find("Env"));
    config.entrypoint = string_list(inner->find("Entrypoint"));
    config.cmd = string_list(inner->find("Cmd"));
    config.labels = string_map(inner->find("Labels"));
  }
  for (const JsonNode& diff_id : node.at("rootfs").at("diff_ids").items())
    config.diff_ids.push_back(digest_of(diff_id));
  auto history = node.find("history");
  if (!history || history->is_null()) return config;
  for (const JsonNode& item : history->items()) {
    HistoryEntry entry{text_or_empty(item, "created"), text_or_empty(item, "created_by"), false};
    if (auto empty = item.find("empty_layer")) entry.empty_layer = empty->boolean();
    config.history.push_back(entry);
  }
  return config;
}

Manifest manifest_from_json(const JsonNode& node) {
  if (node.find("manifests"))
    node.fail("expected an image manifest, found an image index", "name the manifest of one platform");
  node.at("schemaVersion").integer(2, 2);
  Manifest manifest;
  manifest.config = descriptor_from_json(node.at("config"));
  for (const JsonNode& layer : node.at("layers").items())
    manifest.layers.push_back(descriptor_from_json(layer));
  manifest.annotations = string_map(node.find("annotations"));
  manifest.artifact_type = text_or_empty(node, "artifactType");
  if (auto subject = node.find("subject"); subject && !subject->is_null())
    manifest.subject = descriptor_from_json(*subject);
  return manifest;
}

unsigned variant_rank(std::string_view variant) {
  constexpr unsigned kNoVariant = std::numeric_limits<unsigned>::max();
  if (variant.empty()) return 0;
  if (!variant.starts_with('v')) return kNoVariant;
  unsigned level = 0;  // ARM has v8.2 as well
  const char* end = variant.data() + variant.size();
  const auto [stop, problem] = std::from_chars(variant.data() + 1, end, level);
  if (problem != std::errc() || level > 1000) return kNoVariant;
  unsigned minor = 0;
  if (stop != end && *stop == '.') std::from_chars(stop + 1, end, minor);
  return 1000 * level + (minor < 1000 ? minor : 999);
}

}  // namespace kiln
