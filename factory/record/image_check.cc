#include "factory/record/image_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/oci/later_document.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

std::vector<ImageBlob> whole_blobs(const fs::path& state, const ImageRecord& image) {
  std::vector<ImageBlob> blobs = blobs_of(image, BlobStore::reading(state / "store"));
  if (auto damaged = first_damage(blobs)) throw damage_error(image, *damaged);
  return blobs;
}

}  // namespace

LayoutIndex layout_index_of(const ImageRecord& image, const BlobStore& store) {
  const std::uint64_t size = store.size_of(image.manifest).value_or(0);
  LayoutIndex index{{std::string(media_type::kManifest), image.manifest, size, {}}, image.tag, {}};
  for (const Attachment& attachment : image.attachments)
    if (!attachment.referrer.empty() && !is_later_document(attachment))
      index.referrers.push_back(referrer_descriptor(attachment, store));
  return index;
}

std::vector<Descriptor> blobs_in_layout(const fs::path& folder, const Digest& manifest,
                                        const std::vector<ImageBlob>& blobs) {
  const std::vector<Descriptor> named = layout_manifests(folder);
  const bool of_another = !named.empty() && std::none_of(named.begin(), named.end(), [&](const auto& one) {
    return one.digest == manifest;
  });
  std::vector<Descriptor> inside;
  for (const ImageBlob& blob : blobs) {
    const bool wanted =
        blob.role == ImageBlob::Role::layer || (!of_another && blob.role != ImageBlob::Role::apart);
    if (wanted) inside.push_back({"", blob.digest, blob.size, {}});
  }
  return inside;
}

void check_blobs(const fs::path& state, const ImageRecord& image) { whole_blobs(state, image); }

void check_layout(const fs::path& state, const ImageRecord& image) {
  std::vector<ImageBlob> blobs = whole_blobs(state, image);
  fs::path folder = state / image.layout;
  std::string damage = layout_damage(folder, blobs_in_layout(folder, image.manifest, blobs));
  if (damage.empty()) return;
  throw Error(ExitCode::store,
              fmt::format("{} is damaged: its layout {} {}", image.name(), folder.string(), damage),
              kDamageRemedy);
}

void check_sif(const fs::path& state, const ImageRecord& image, const fs::path& file) {
  whole_blobs(state, image);
  std::error_code problem;
  if (!fs::is_directory(file.parent_path(), problem)) return;
  const Attachment* sif = image.attachment("sif");
  std::uint64_t size = fs::file_size(file, problem);
  if (!problem && sif != nullptr && size == sif->blob.size) return;
  throw Error(ExitCode::store,
              fmt::format("{} is not the SIF of {}: it {}", file.string(), image.name(),
                          problem ? "is missing" : fmt::format("has {} of {} bytes", size, sif->blob.size)),
              fmt::format("copy it from {}", (sif_folder(state) / image.sif_name()).string()));
}

fs::path sif_folder(const fs::path& state) { return state / "sif"; }

fs::path sif_path(const fs::path& state, const ImageRecord& image) {
  const Attachment* sif = image.attachment("sif");
  if (sif == nullptr) throw Error(ExitCode::no_match, image.name() + " has no SIF");
  const fs::path blob = BlobStore::reading(state / "store").path(sif->blob.digest);
  const fs::path link = sif_folder(state) / image.sif_name();
  std::error_code absent;
  return fs::equivalent(link, blob, absent) ? link : blob;
}

}  // namespace kiln
