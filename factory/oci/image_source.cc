#include "factory/oci/image_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/oci/layer_merge.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostDocument = 4u << 20;
constexpr unsigned kMostIndexDepth = 3;
constexpr std::string_view kDockerLayer = "application/vnd.docker.image.rootfs.diff.tar";

bool is_index(std::string_view type) {
  return type == media_type::kImageIndex ||
         type == "application/vnd.docker.distribution.manifest.list.v2+json";
}

std::string annotation(const JsonNode& descriptor, std::string_view key) {
  auto annotations = descriptor.find("annotations");
  if (!annotations) return "";
  auto value = annotations->find(key);
  return value ? value->string() : "";
}

bool fits(const JsonNode& descriptor, const std::string& architecture) {
  auto platform = descriptor.find("platform");
  return !platform ||
         (platform->at("os").string() == "linux" && platform->at("architecture").string() == architecture);
}

void check_size(const BlobSection& section, const Descriptor& descriptor) {
  if (section.size != descriptor.size)
    throw Error(ExitCode::input, fmt::format("blob {} has {} bytes, its descriptor says {}",
                                             descriptor.digest.text(), section.size, descriptor.size));
}

// A bill of materials, a signature.
bool goes_with_an_image(const JsonNode& node) {
  auto type = node.find("artifactType");
  return type && is_artifact_type(type->string());
}

}  // namespace

ImageName parse_image_name(std::string_view text) {
  std::size_t colon = text.find(':');
  std::string transport(text.substr(0, colon == text.npos ? 0 : colon));
  if (transport != "oci" && transport != "oci-archive" && transport != "docker-archive" &&
      transport != "docker")
    throw Error(ExitCode::usage, fmt::format("'{}' does not name an image", std::string(text)),
                "oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE[:TAG] or docker://REFERENCE");
  std::string_view rest = text.substr(colon + 1);
  if (transport == "docker") return {transport, std::string(rest), ""};
  std::size_t tag = rest.find(':');
  if (tag == rest.npos) return {transport, std::string(rest), ""};
  return {transport, std::string(rest.substr(0, tag)), std::string(rest.substr(tag + 1))};
}

SourceImage SourceImage::open(const ImageName& name, const std::string& architecture) {
  SourceImage image;
  image.name_ = image.called_ = name;
  if (name.transport != "oci") {
    image.files_.push_back(std::make_unique<ReadOnlyFile>(name.path));
    image.archive_ = std::make_unique<ArchiveIndex>(*image.files_.back());
  }
  if (name.transport == "docker-archive")
    image.open_docker_archive();
  else
    image.open_oci(architecture);
  image.check_layers();
  return image;
}

SourceImage SourceImage::of_layers(const ImageName& name, const std::string& config, const Digest& digest,
                                   const std::vector<LayerFile>& layers) {
  SourceImage image;
  image.name_ = image.called_ = name;
  image.digest_ = digest;
  image.read_config(config, "configuration");
  for (const LayerFile& layer : layers) {
    image.files_.push_back(std::make_unique<ReadOnlyFile>(layer.path));
    image.layers_.push_back({layer.descriptor, {image.files_.back().get(), 0, image.files_.back()->size()}});
    check_size(image.layers_.back().blob, layer.descriptor);
  }
  image.check_layers();
  return image;
}

void SourceImage::check_layers() const {
  if (layers_.size() > kMostLayers)
    throw Error(ExitCode::input,
                fmt::format("the image has {} layers, the limit is {}", layers_.size(), kMostLayers));
  if (layers_.size() != config_.diff_ids.size())
    throw Error(ExitCode::input, fmt::format("the manifest has {} layers, the configuration names {}",
                                             layers_.size(), config_.diff_ids.size()));
}

std::uint64_t SourceImage::compressed_size() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.blob.size;
  return sum;
}

std::unique_ptr<LayerStream> SourceImage::open_layer(std::size_t index, const LayerLimits& limits) const {
  const Layer& layer = layers_[index];
  return std::make_unique<LayerStream>(layer.blob, layer.descriptor, config_.diff_ids[index], limits);
}

BlobSection SourceImage::named_file(const std::string& name) {
  if (archive_) return archive_->find(name);
  files_.push_back(std::make_unique<ReadOnlyFile>(fs::path(name_.path) / name));
  return {files_.back().get(), 0, files_.back()->size()};
}

BlobSection SourceImage::blob(const Descriptor& descriptor) {
  BlobSection section = named_file("blobs/sha256/" + descriptor.digest.hex());
  check_size(section, descriptor);
  return section;
}

std::string SourceImage::document(const Descriptor& descriptor) {
  BlobSection section = blob(descriptor);
  std::string text = section.file->section(section.offset, section.size, kMostDocument);
  if (Digest::of(text) != descriptor.digest)
    throw Error(ExitCode::input, fmt::format("blob {} has another digest: it is damaged or was changed",
                                             descriptor.digest.text()));
  return text;
}

void SourceImage::open_oci(const std::string& architecture) {
  BlobSection section = named_file("index.json");
  std::string text = section.file->section(section.offset, section.size, kMostDocument);
  JsonDocument index = JsonDocument::parse(text, name_.path + "/index.json");
  Descriptor found = choose(index.root(), name_.tag, architecture, 1);
  digest_ = found.digest;
  Manifest manifest =
      manifest_from_json(JsonDocument::parse(document(found), "manifest " + found.digest.text()).root());
  read_config(document(manifest.config), "configuration " + manifest.config.digest.text());
  for (const Descriptor& layer : manifest.layers) layers_.push_back({layer, blob(layer)});
}

Descriptor SourceImage::choose(const JsonNode& index, const std::string& tag, const std::string& architecture,
                               unsigned depth) {
  if (depth > kMostIndexDepth)
    index.fail(fmt::format("image indexes are nested more than {} deep", kMostIndexDepth));
  if (index.find("layers")) index.fail("expected an image index, found a manifest's layers");
  std::vector<JsonNode> matching;
  for (const JsonNode& node : index.at("manifests").items())
    if (!goes_with_an_image(node) &&
        (tag.empty() || annotation(node, "org.opencontainers.image.ref.name") == tag) &&
        fits(node, architecture))
      matching.push_back(node);
  if (matching.empty())
    index.fail(tag.empty() ? fmt::format("no image for linux/{}", architecture)
                           : fmt::format("no image is tagged '{}' for linux/{}", tag, architecture));
  if (matching.size() > 1 && tag.empty() && depth == 1)
    index.fail(fmt::format("{} images, which one?", matching.size()), "add a tag: oci:DIR:TAG");
  Descriptor descriptor = descriptor_from_json(matching.front());
  if (!is_index(descriptor.media_type)) return descriptor;
  JsonDocument inner = JsonDocument::parse(document(descriptor), "index " + descriptor.digest.text());
  return choose(inner.root(), "", architecture, depth + 1);
}

void SourceImage::open_docker_archive() {
  BlobSection section = named_file("manifest.json");
  std::string text = section.file->section(section.offset, section.size, kMostDocument);
  JsonDocument list = JsonDocument::parse(text, name_.path + "/manifest.json");
  std::optional<JsonNode> found;
  for (const JsonNode& node : list.root().items()) {
    bool matches = name_.tag.empty();
    if (auto tags = node.find("RepoTags"); tags && !tags->is_null() && !matches)
      for (const std::string& tag : tags->strings()) matches = matches || tag == name_.tag;
    if (!matches) continue;
    if (found) node.fail("several images, which one?", "add a tag: docker-archive:FILE:NAME:TAG");
    found = node;
  }
  if (!found) list.root().fail(fmt::format("no image is tagged '{}'", name_.tag));
  std::string config_name = found->at("Config").string();
  BlobSection config = named_file(config_name);
  std::string config_text = config.file->section(config.offset, config.size, kMostDocument);
  digest_ = Digest::of(config_text);
  read_config(config_text, config_name);
  for (const std::string& layer : found->at("Layers").strings()) {
    Descriptor descriptor;  // such archives do not tell the blob's digest; the DiffID covers the content
    descriptor.media_type = kDockerLayer;
    BlobSection blob = named_file(layer);
    descriptor.size = blob.size;
    layers_.push_back({descriptor, blob});
  }
}

void SourceImage::read_config(const std::string& text, const std::string& file) {
  JsonDocument document = JsonDocument::parse(text, file);
  config_ = image_config_from_json(document.root());
  auto inner = document.root().find("config");
  runtime_config_ = inner && !inner->is_null() ? inner->value().dump() : "{}";
}

}  // namespace kiln
