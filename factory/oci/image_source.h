// Images as skopeo names them, read in place: oci:DIR[:TAG], oci-archive:FILE[:TAG],
// docker-archive:FILE[:TAG].
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "factory/oci/archive_index.h"
#include "factory/oci/blob.h"
#include "factory/oci/documents.h"
#include "factory/oci/layer_stream.h"

namespace kiln {

// "oci:dir:tag" in its parts. Throws Error(usage) for another transport.
struct ImageName {
  std::string transport;
  std::string path;  // for docker: the reference, "//host/name:tag"
  std::string tag;   // "" when not given
};
ImageName parse_image_name(std::string_view text);

// An opened image whose manifest and configuration were checked against their digests.
class SourceImage {
 public:
  // `architecture` (OCI's word) chooses from an image index. Throws Error(input).
  static SourceImage open(const ImageName& name, const std::string& architecture);
  // Of layers that lie somewhere. `config`: the configuration's JSON; `digest`: the manifest's. Throws
  // Error(input).
  struct LayerFile {
    fs::path path;
    Descriptor descriptor;
  };
  static SourceImage of_layers(const ImageName& name, const std::string& config, const Digest& digest,
                               const std::vector<LayerFile>& layers);

  const ImageName& name() const { return called_; }
  void call(const ImageName& name) { called_ = name; }  // the fetched reference, for the definition file
  const ImageConfig& config() const { return config_; }
  const std::string& runtime_config() const {
    return runtime_config_;
  }  // the configuration's "config", as JSON
  const Digest& digest() const {
    return digest_;
  }  // of the manifest; of a Docker archive: of the configuration
  std::size_t layer_count() const { return layers_.size(); }
  std::uint64_t layer_size(std::size_t index) const { return layers_[index].blob.size; }  // compressed
  std::uint64_t compressed_size() const;                                                  // of all layers
  // A stream of the plain bytes that checks them. The image outlives it.
  std::unique_ptr<LayerStream> open_layer(std::size_t index, const LayerLimits& limits) const;

  // An artifact that goes with this image: OCI's referrers (a manifest whose subject is the image's), listed
  // by index.json or an index in it (OCI's tag schema), and BuildKit's attestations.
  struct Referrer {
    Digest digest;
    std::string type;                // the artifact's, else its configuration's
    std::vector<Descriptor> layers;  // its documents
  };
  // Those that the image's layout or archive holds; none in a Docker archive.
  std::vector<Referrer> referrers();
  // A document of a referrer. Throws Error(input) when it is damaged, or over 256 MiB.
  std::string attached(const Descriptor& layer);

 private:
  static constexpr std::uint64_t kMostDocument = 4u << 20;
  struct Layer {
    Descriptor descriptor;
    BlobSection blob;
  };
  BlobSection blob(const Descriptor& descriptor);
  std::string document(const Descriptor& descriptor, std::uint64_t limit = kMostDocument);
  JsonDocument index_file();
  BlobSection named_file(const std::string& name);
  // Both look into the indexes that an index names, down to a depth of a few.
  void add_referrers(const JsonNode& index, unsigned depth, std::vector<Referrer>& found);
  void add_referrer(const Descriptor& descriptor, unsigned depth, std::vector<Referrer>& found);
  void open_oci(const std::string& architecture);
  void open_docker_archive();
  static void refuse_unless_image(const JsonNode& node, const Manifest& manifest, const std::string& config);
  void check_layers() const;
  void read_config(const std::string& text, const std::string& file);
  Descriptor choose(const JsonNode& index, const std::string& tag, const std::string& architecture,
                    unsigned depth);

  ImageName name_;
  ImageName called_;
  std::vector<std::unique_ptr<ReadOnlyFile>> files_;
  std::unique_ptr<ArchiveIndex> archive_;  // null for a folder
  ImageConfig config_;
  std::string runtime_config_;
  Digest digest_;
  std::vector<Layer> layers_;
};

}  // namespace kiln
