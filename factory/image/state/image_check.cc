#include "image/state/image_check.h"

#include <fmt/format.h>

#include "oci/layout.h"
#include "registry/image_blobs.h"

namespace kiln {
namespace {

std::vector<ImageBlob> whole_blobs(const StatePaths& state, const ImageRecord& image) {
  std::vector<ImageBlob> blobs = blobs_of(image, BlobStore::reading(state.store()));
  if (auto damaged = first_damage(blobs)) throw damage_error(image, *damaged);
  return blobs;
}

}  // namespace

void check_blobs(const StatePaths& state, const ImageRecord& image) { whole_blobs(state, image); }

void check_layout(const StatePaths& state, const ImageRecord& image) {
  std::vector<Descriptor> inside;
  for (const ImageBlob& blob : whole_blobs(state, image))
    if (blob.in_layout) inside.push_back({"", blob.digest, blob.size, {}});
  fs::path folder = state.root() / image.layout;
  std::string damage = layout_damage(folder, image.manifest, inside);
  if (damage.empty()) return;
  throw Error(ExitCode::store,
              fmt::format("{} is damaged: its layout {} {}", image.name(), folder.string(), damage),
              kDamageRemedy);
}

void check_sif(const StatePaths& state, const ImageRecord& image, const fs::path& file) {
  whole_blobs(state, image);
  std::error_code problem;
  if (!fs::is_directory(file.parent_path(), problem)) return;
  const Attachment* sif = image.attachment("sif");
  std::uint64_t size = fs::file_size(file, problem);
  if (!problem && sif != nullptr && size == sif->blob.size) return;
  throw Error(ExitCode::store,
              fmt::format("{} is not the SIF of {}: it {}", file.string(), image.name(),
                          problem ? "is missing" : fmt::format("has {} of {} bytes", size, sif->blob.size)),
              fmt::format("copy it from {}", (state.sif_folder() / image.sif_name()).string()));
}

}  // namespace kiln
