#include "factory/package/package.h"

#include <nlohmann/json.hpp>

#include "factory/oci/blob_damage.h"
#include "factory/package/kept_findings.h"
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

Artifact package(const PackageRequest& request, const BlobStore& store, FileSystem& files,
                 Conversions& conversions) {
  const ImageSpec& spec = request.image;
  const DocumentFacts& facts = request.facts;
  CacheFolder folder(request.evidence_cache, findings_version(), files);
  evidence::FolderCache cache(folder);
  KeptContents kept(folder, facts.tool + " " + facts.flag_table);
  KeptLayers layers(folder, request.jobs, &cache);
  Contents contents =
      examine(spec, request.built, store, {request.cpus, request.jobs, &cache, &kept, &layers});
  files.write(request.evidence_log, contents.table);
  if (request.refuse_excess) refuse_excess(contents);
  Artifact artifact = compose(spec, request.built, std::move(contents.evidence), facts.epoch);
  artifact = attach_documents(std::move(artifact), spec, request.plan, request.origin, contents.inventory,
                              facts, store);
  if (request.with_sif)
    artifact = attach_sif(std::move(artifact), {facts.epoch, facts.tool, request.jobs, request.scratch},
                          store, conversions);
  return artifact;
}

}  // namespace kiln
