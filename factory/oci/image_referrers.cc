// What goes with an image and lies in its layout: the part of SourceImage that reads referrers.
#include <fmt/format.h>

#include <algorithm>

#include "factory/oci/image_source.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostAttached = 256u << 20;
constexpr std::uint64_t kMostIndex = 4u << 20;
constexpr std::size_t kMostReferrers = 1000;
constexpr unsigned kMostDepth = 3;
// What BuildKit writes, which knows no `subject`.
constexpr const char* kBuildKitImage = "vnd.docker.reference.digest";

std::string value_at(const std::map<std::string, std::string>& map, const char* key) {
  auto found = map.find(key);
  return found == map.end() ? "" : found->second;
}

}  // namespace

std::vector<SourceImage::Referrer> SourceImage::referrers() {
  std::vector<Referrer> found;
  if (name_.transport == "docker-archive") return found;
  BlobSection section = named_file("index.json");
  std::string text = section.file->section(section.offset, section.size, kMostIndex);
  JsonDocument index = JsonDocument::parse(text, name_.path + "/index.json");
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
                                  : value_at(descriptor.annotations, kBuildKitImage) == digest_.text();
  bool known = std::any_of(found.begin(), found.end(),
                           [&](const Referrer& one) { return one.digest == descriptor.digest; });
  if (!of_this || known) return;
  std::string type = manifest.artifact_type.empty() ? manifest.config.media_type : manifest.artifact_type;
  found.push_back({descriptor.digest, std::move(type), std::move(manifest.layers)});
}

std::string SourceImage::attached(const Descriptor& layer) {
  BlobSection section = blob(layer);
  std::string bytes = section.file->section(section.offset, section.size, kMostAttached);
  if (Digest::of(bytes) != layer.digest)
    throw Error(ExitCode::input,
                fmt::format("blob {} has another digest: it is damaged or was changed", layer.digest.text()));
  return bytes;
}

}  // namespace kiln
