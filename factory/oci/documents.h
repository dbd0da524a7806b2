// The OCI image-spec documents that kiln reads and writes (image-spec v1.1: descriptor.md, manifest.md,
// config.md, image-index.md, image-layout.md). Strict on the way in, canonical (sorted keys, no blanks) on
// the way out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"

namespace kiln {
namespace media_type {
inline constexpr std::string_view kManifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kImageIndex = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view kConfig = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view kLayerTar = "application/vnd.oci.image.layer.v1.tar";
inline constexpr std::string_view kLayerGzip = "application/vnd.oci.image.layer.v1.tar+gzip";
inline constexpr std::string_view kLayerZstd = "application/vnd.oci.image.layer.v1.tar+zstd";
inline constexpr std::string_view kEmpty = "application/vnd.oci.empty.v1+json";  // of the bytes {}
}  // namespace media_type

// PATH where nothing says another: Docker's and Apptainer's own default.
struct Descriptor {
  std::string media_type;
  Digest digest;
  std::uint64_t size = 0;  // bytes
  std::map<std::string, std::string> annotations;
  std::string artifact_type{};  // of what a manifest holds; "" for an image
  bool operator==(const Descriptor&) const = default;
};

struct HistoryEntry {
  std::string created;  // RFC 3339
  std::string created_by;
  bool empty_layer = false;
  bool operator==(const HistoryEntry&) const = default;
};

struct ImageConfig {
  std::string created;  // RFC 3339
  std::string architecture = "amd64";
  std::string variant;
  std::string os = "linux";
  std::string user;
  std::string working_dir;
  std::vector<std::string> env;  // NAME=value, in order
  std::vector<std::string> entrypoint;
  std::vector<std::string> cmd;
  std::map<std::string, std::string> labels;
  std::vector<Digest> diff_ids;
  std::vector<HistoryEntry> history;
  bool operator==(const ImageConfig&) const = default;
};

struct Manifest {
  Descriptor config;
  std::vector<Descriptor> layers;
  std::map<std::string, std::string> annotations;
  std::string artifact_type{};          // "" for an image
  std::optional<Descriptor> subject{};  // the manifest that this one goes with
};

// Whether a descriptor's or manifest's artifactType says that it is no image but goes with one.
bool is_artifact_type(std::string_view type);

Json to_json(const Descriptor& descriptor);
Json to_json(const ImageConfig& config);
Json to_json(const Manifest& manifest);

Descriptor descriptor_from_json(const JsonNode& node);
ImageConfig image_config_from_json(const JsonNode& node);  // Docker's config is accepted too: same fields
Manifest manifest_from_json(const JsonNode& node);         // Error(input) for an image index

// Of several images for one architecture, the one of the lowest rank runs on the most processors. For this
// folder only. Levels of a processor are nested (amd64: v1 to v4; arm64: v8, v9), so that the lowest runs
// wherever one of them does. The rank of an image-spec variant: "" first, then v1, v2, …, other texts last.
unsigned variant_rank(std::string_view variant);

// Where an image's shell looks for programs when nothing says otherwise.
inline constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The result of a finished build step: its layers, and the configuration of the base below them.
struct BuiltLayer {
  Descriptor blob;         // in the blob store
  Digest diff_id;          // of the uncompressed tar
  std::string step;        // key of the step that made it
  std::string created_by;  // for the image's history
};

// `layers` is the whole chain, the base's first.
struct LayerChain {
  std::vector<BuiltLayer> layers;
  std::optional<ImageConfig> base;  // of a pulled base: its environment and labels are inherited
};

}  // namespace kiln
