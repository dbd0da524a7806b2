#include "factory/package/sif_pass.h"

#include <nlohmann/json.hpp>

#include "factory/oci/blob_damage.h"
#include "factory/sif/sif_build.h"

namespace kiln {
namespace {

constexpr std::string_view kSifType = "application/vnd.sylabs.sif.layer.v1.sif";

sif::SifOptions sif_options(const SifFacts& facts) {
  sif::SifOptions options;
  options.squashfs.jobs = facts.jobs;
  options.tool = "kiln " + facts.tool;
  options.now = facts.epoch;
  options.reproducible = true;
  options.keep_times = true;
  options.check = true;
  return options;
}

// Of everything that decides the SIF's bits.
std::string conversion_key(const Artifact& artifact, const sif::SifOptions& options) {
  return Digest::of(Json{{"manifest", artifact.manifest.digest.text()},
                         {"name", artifact.record.name()},
                         {"tool", options.tool},
                         {"layout", sif::kSquashfsLayout},
                         {"compression", options.squashfs.compression},
                         {"level", options.squashfs.level},
                         {"block", options.squashfs.block_size},
                         {"epoch", options.now}}
                        .dump())
      .hex();
}

SourceImage source_of(const Artifact& artifact, const BlobStore& store) {
  std::vector<SourceImage::LayerFile> layers;
  for (const Descriptor& layer : artifact.image.layers) layers.push_back({store.path(layer.digest), layer});
  return SourceImage::of_layers({"oci", artifact.record.repository, artifact.record.tag},
                                to_json(artifact.image.config).dump(), artifact.manifest.digest, layers);
}

Descriptor convert(const Artifact& artifact, const sif::SifOptions& options,
                   const std::filesystem::path& scratch, const BlobStore& store) {
  std::filesystem::path file = scratch / "image.sif";
  try {
    sif::build_sif(source_of(artifact, store), file, options);
  } catch (Error& error) {
    error.while_doing("making the SIF of " + artifact.record.name());
    throw;
  }
  return store.put_file(file, std::string(kSifType));
}

}  // namespace

Artifact attach_sif(Artifact artifact, const SifFacts& facts, const BlobStore& store,
                    Conversions& conversions) {
  sif::SifOptions options = sif_options(facts);
  std::string key = conversion_key(artifact, options);
  std::optional<Descriptor> sif = conversions.find(key);
  if (!sif || !read_damage(store, sif->digest, sif->size).empty()) {
    sif = convert(artifact, options, facts.scratch, store);
    conversions.keep(key, *sif);
  }
  artifact.record.attachments.push_back({"sif", *sif, {}});
  return artifact;
}

}  // namespace kiln
