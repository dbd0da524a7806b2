// What goes with an image and lies in its layout: the part of SourceImage that reads referrers.
#include "factory/oci/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/oci/layer_merge.h"

namespace kiln {
namespace {

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

bool is_manifest(std::string_view type) {
  return type == media_type::kManifest || type == "application/vnd.docker.distribution.manifest.v2+json";
}

std::string variant_of(const JsonNode& descriptor) {
  auto platform = descriptor.find("platform");
  auto variant = platform ? platform->find("variant") : std::nullopt;
  return variant && variant->is_string() ? variant->string() : "";
}

// Of several that fit, that for the most processors; the first of equals.
const JsonNode& widest(const std::vector<JsonNode>& nodes) {
  return *std::ranges::min_element(nodes, {},
                                   [](const JsonNode& node) { return variant_rank(variant_of(node)); });
}

// One image, for several kinds of one processor.
bool differ_in_variant_alone(const std::vector<JsonNode>& nodes) {
  std::set<std::string> names, variants;
  for (const JsonNode& node : nodes) {
    if (!node.find("platform")) return false;
    names.insert(annotation(node, "org.opencontainers.image.ref.name"));
    variants.insert(variant_of(node));
  }
  return names.size() == 1 && variants.size() == nodes.size();
}

[[noreturn]] void refuse_artifact(const JsonNode& node, const std::string& type) {
  if (contains(type, "buildkit.cacheconfig"))
    node.fail("this is a cache of BuildKit's, not an image", "the image has another tag");
  const bool is_sif = contains(type, "sylabs.sif");
  node.fail(fmt::format("this is not an image: it is of the type '{}'", type),
            is_sif ? "a SIF file: `apptainer pull oras://…` takes it as it is" : "");
}

// Those of them that name manifests and indexes. Throws where there are only others, such as the layers of a
// cache.
std::vector<JsonNode> images_of(const std::vector<JsonNode>& nodes) {
  std::vector<JsonNode> images;
  std::string other;
  for (const JsonNode& node : nodes) {
    const std::string type = node.at("mediaType").string();
    if (is_manifest(type) || is_index(type))
      images.push_back(node);
    else if (other.empty() || contains(type, "cacheconfig"))
      other = type;
  }
  if (images.empty() && !other.empty()) refuse_artifact(nodes.front(), other);
  return images;
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
    image.files_.push_back(open_archive(name.path));
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

std::string SourceImage::document(const Descriptor& descriptor, std::uint64_t limit) {
  std::string text = blob(descriptor).bytes(limit);
  if (Digest::of(text) != descriptor.digest)
    throw Error(ExitCode::input, fmt::format("blob {} has another digest: it is damaged or was changed",
                                             descriptor.digest.text()));
  return text;
}

// Some tools name types of their own for what is an image's configuration all the same.
void SourceImage::refuse_unless_image(const JsonNode& node, const Manifest& manifest,
                                      const std::string& config) {
  if (!is_artifact_type(manifest.config.media_type) && !is_artifact_type(manifest.artifact_type)) return;
  const Json parsed = Json::parse(config, nullptr, false);
  if (parsed.is_object() && parsed.contains("rootfs")) return;
  refuse_artifact(node, manifest.artifact_type.empty() ? manifest.config.media_type : manifest.artifact_type);
}

JsonDocument SourceImage::index_file() {
  return JsonDocument::parse(named_file("index.json").bytes(kMostDocument), name_.path + "/index.json");
}

void SourceImage::open_oci(const std::string& architecture) {
  JsonDocument index = index_file();
  Descriptor found = choose(index.root(), name_.tag, architecture, 1);
  digest_ = found.digest;
  const JsonDocument read = JsonDocument::parse(document(found), "manifest " + found.digest.text());
  const Manifest manifest = manifest_from_json(read.root());
  const std::string config = document(manifest.config);
  refuse_unless_image(read.root(), manifest, config);
  read_config(config, "configuration " + manifest.config.digest.text());
  for (const Descriptor& layer : manifest.layers) layers_.push_back({layer, blob(layer)});
}

Descriptor SourceImage::choose(const JsonNode& index, const std::string& tag, const std::string& architecture,
                               unsigned depth) {
  if (depth > kMostIndexDepth)
    index.fail(fmt::format("image indexes are nested more than {} deep", kMostIndexDepth));
  if (index.find("layers")) index.fail("expected an image index, found a manifest's layers");
  std::vector<JsonNode> matching, others;
  for (const JsonNode& node : index.at("manifests").items())
    if ((tag.empty() || annotation(node, "org.opencontainers.image.ref.name") == tag) &&
        fits(node, architecture))
      (goes_with_an_image(node) ? others : matching).push_back(node);
  if (matching.empty() && !others.empty())
    refuse_artifact(others.front(), others.front().at("artifactType").string());
  if (matching.empty())
    index.fail(tag.empty() ? fmt::format("no image for linux/{}", architecture)
                           : fmt::format("no image is tagged '{}' for linux/{}", tag, architecture));
  matching = images_of(matching);
  if (matching.size() > 1 && tag.empty() && depth == 1 && !differ_in_variant_alone(matching))
    index.fail(fmt::format("{} images, which one?", matching.size()), "add a tag: oci:DIR:TAG");
  Descriptor descriptor = descriptor_from_json(widest(matching));
  if (!is_index(descriptor.media_type)) return descriptor;
  JsonDocument inner = JsonDocument::parse(document(descriptor), "index " + descriptor.digest.text());
  return choose(inner.root(), "", architecture, depth + 1);
}

void SourceImage::open_docker_archive() {
  JsonDocument list =
      JsonDocument::parse(named_file("manifest.json").bytes(kMostDocument), name_.path + "/manifest.json");
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
  std::string config_text = named_file(config_name).bytes(kMostDocument);
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

namespace {

constexpr std::uint64_t kMostAttached = 256u << 20;
constexpr std::size_t kMostReferrers = 1000;
constexpr unsigned kMostDepth = 3;
// What BuildKit writes, which knows no `subject`.
constexpr const char* kBuildKitImage = "vnd.docker.reference.digest";

}  // namespace

std::vector<SourceImage::Referrer> SourceImage::referrers() {
  std::vector<Referrer> found;
  if (name_.transport == "docker-archive") return found;
  JsonDocument index = index_file();
  add_referrers(index.root(), 1, found);
  return found;
}

void SourceImage::add_referrers(const JsonNode& index, unsigned depth, std::vector<Referrer>& found) {
  for (const JsonNode& node : index.at("manifests").items()) {
    try {
      add_referrer(descriptor_from_json(node), depth, found);
    } catch (const Error&) {
      // Images of other platforms may be named and not be there, and of other makers' manifests not all are
      // known: what cannot be read is no referrer.
    }
  }
}

void SourceImage::add_referrer(const Descriptor& descriptor, unsigned depth, std::vector<Referrer>& found) {
  if (descriptor.digest == digest_ || found.size() == kMostReferrers) return;
  JsonDocument read = JsonDocument::parse(document(descriptor), descriptor.digest.text());
  if (read.root().find("manifests")) {
    if (depth < kMostDepth) add_referrers(read.root(), depth + 1, found);
    return;
  }
  Manifest manifest = manifest_from_json(read.root());
  bool of_this = manifest.subject ? manifest.subject->digest == digest_
                                  : value_or(descriptor.annotations, kBuildKitImage) == digest_.text();
  bool known =
      std::ranges::any_of(found, [&](const Referrer& one) { return one.digest == descriptor.digest; });
  if (!of_this || known) return;
  std::string type = manifest.artifact_type.empty() ? manifest.config.media_type : manifest.artifact_type;
  found.push_back({descriptor.digest, std::move(type), std::move(manifest.layers)});
}

std::string SourceImage::attached(const Descriptor& layer) { return document(layer, kMostAttached); }

}  // namespace kiln
