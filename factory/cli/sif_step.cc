#include "cli/sif_step.h"

#include <nlohmann/json.hpp>

#include "cli/image_name.h"
#include "cli/invocation.h"
#include "image/package.h"
#include "image/private_folder.h"
#include "registry/blob_store.h"
#include "sif/sif_build.h"

namespace kiln {
namespace {

constexpr std::string_view kSifType = "application/vnd.sylabs.sif.layer.v1.sif";

sif::SifOptions sif_options(std::int64_t epoch) {
  sif::SifOptions options;
  options.squashfs.jobs = usable_processors();
  options.tool = "kiln " KILN_VERSION;
  options.now = epoch;
  options.reproducible = true;
  options.keep_times = true;
  options.check = true;
  return options;
}

sif::ImageName name_in_sif(const ImageSpec& spec) { return {"oci", spec.repository, spec.tag}; }

// Of everything that decides the SIF's bits.
std::string conversion_key(const ImageSpec& spec, const Digest& manifest, const sif::SifOptions& options) {
  return Digest::of(Json{{"manifest", manifest.text()},
                         {"name", spec.repository + ":" + spec.tag},
                         {"tool", options.tool},
                         {"layout", sif::kSquashfsLayout},
                         {"compression", options.squashfs.compression},
                         {"level", options.squashfs.level},
                         {"block", options.squashfs.block_size},
                         {"epoch", options.now}}
                        .dump())
      .hex();
}

std::optional<Descriptor> made_before(const fs::path& conversion, const BlobStore& store,
                                      const FileSystem& files) {
  auto bytes = files.read(conversion);
  if (!bytes) return std::nullopt;
  try {
    Descriptor blob = descriptor_from_json(JsonDocument::parse(*bytes, conversion.string()).root());
    std::error_code problem;
    bool whole = store.has(blob.digest) && fs::file_size(store.path(blob.digest), problem) == blob.size;
    return whole ? std::optional(blob) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // made anew, and the record with it
  }
}

sif::SourceImage source_of(const ImageSpec& spec, const LayoutImage& image, const Digest& manifest,
                           const BlobStore& store) {
  std::vector<sif::SourceImage::LayerFile> layers;
  for (const Descriptor& layer : image.layers) layers.push_back({store.path(layer.digest), layer});
  return sif::SourceImage::of_layers(name_in_sif(spec), to_json(image.config).dump(), manifest, layers);
}

}  // namespace

std::vector<Attachment> package_sif(const ImageSpec& spec, const StepRecord& last,
                                    const EvidenceRecord& evidence, Invocation& invocation) {
  if (!invocation.site().sif) return {};
  StatePaths state = invocation.state();
  BlobStore store(state.store());
  std::int64_t epoch = source_date_epoch(invocation.environment);
  LayoutImage image = compose_image(spec, last, epoch, evidence);
  Digest manifest = manifest_descriptor(image).digest;
  sif::SifOptions options = sif_options(epoch);
  fs::path conversion = state.conversion(conversion_key(spec, manifest, options));
  if (auto blob = made_before(conversion, store, invocation.files)) return {{"sif", *blob, {}}};
  PrivateFolder folder(invocation.files, state.temporary());
  fs::path file = folder.path() / "image.sif";
  try {
    sif::build_sif(source_of(spec, image, manifest, store), file, options);
  } catch (Error& error) {
    error.while_doing("making the SIF of " + spec.repository + ":" + spec.tag);
    throw;
  }
  Descriptor blob = store.put_file(file, std::string(kSifType));
  invocation.files.write(conversion, to_json(blob).dump());
  return {{"sif", blob, {}}};
}

bool has_formats(const Site& site, const StatePaths& state, const FileSystem& files) {
  return !site.sif || files.read(state.formats()) == "oci sif\n";
}

bool lacks_format(const Site& site, const fs::path& built, const FileSystem& files) {
  auto bytes = site.sif ? files.read(built) : std::nullopt;
  if (!bytes) return false;
  return image_record_from_json(JsonDocument::parse(*bytes, built.string()).root()).attachment("sif") ==
         nullptr;
}

void repackage_for_formats(const Site& site, const StatePaths& state, FileSystem& files) {
  if (!has_formats(site, state, files)) {
    for (const std::string& name : files.list(state.built_folder())) {
      fs::path built = state.built_folder() / name;
      if (lacks_format(site, built, files)) files.remove_all(built);
    }
  }
  std::string now = site.sif ? "oci sif\n" : "oci\n";
  if (files.read(state.formats()) != now) files.write(state.formats(), now);
}

}  // namespace kiln
