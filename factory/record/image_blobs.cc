#include "factory/record/image_blobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

using Role = ImageBlob::Role;

class BlobList {
 public:
  explicit BlobList(const BlobStore& store) : store_(store) {}

  void add(Role role, std::string what, const Descriptor& blob) {
    if (knows(blob.digest)) return;
    blobs_.push_back(
        {role, std::move(what), blob.digest, blob.size, seen_damage(store_, blob.digest, blob.size)});
  }

  // The manifest's own blob, and what is in it; nullopt when it is damaged.
  std::optional<Manifest> add_manifest(Role role, std::string what, const Digest& digest) {
    blobs_.push_back({role, std::move(what), digest, 0, store_.has(digest) ? "" : "is missing"});
    ImageBlob& blob = blobs_.back();
    if (!blob.damage.empty()) return std::nullopt;
    try {
      std::string text = store_.read(digest);
      blob.size = text.size();
      return manifest_from_json(JsonDocument::parse(text, digest.text()).root());
    } catch (const Error&) {
      blob.damage = "does not have the bytes that were written";
      return std::nullopt;
    }
  }

  std::vector<ImageBlob> finish() { return std::move(blobs_); }

 private:
  bool knows(const Digest& digest) const {
    return std::any_of(blobs_.begin(), blobs_.end(),
                       [&](const ImageBlob& blob) { return blob.digest == digest; });
  }

  const BlobStore& store_;
  std::vector<ImageBlob> blobs_;
};

}  // namespace

std::vector<ImageBlob> blobs_of(const ImageRecord& image, const BlobStore& store) {
  BlobList list(store);
  if (auto manifest = list.add_manifest(Role::description, "manifest", image.manifest)) {
    list.add(Role::description, "configuration", manifest->config);
    for (std::size_t i = 0; i < manifest->layers.size(); ++i)
      list.add(Role::layer, fmt::format("layer {}", i + 1), manifest->layers[i]);
  }
  for (const Attachment& attachment : image.attachments) {
    const bool is_apart = attachment.referrer.empty() || is_later_document(attachment);
    const Role role = is_apart ? Role::apart : Role::document;
    list.add(role, attachment.kind, attachment.blob);
    if (attachment.referrer.empty()) continue;
    auto referrer = list.add_manifest(role, "referrer of " + attachment.kind, attachment.referrer);
    if (referrer) list.add(role, "configuration of referrers", referrer->config);
  }
  return list.finish();
}

std::optional<ImageBlob> first_damage(const std::vector<ImageBlob>& blobs) {
  auto found =
      std::find_if(blobs.begin(), blobs.end(), [](const ImageBlob& blob) { return !blob.damage.empty(); });
  return found == blobs.end() ? std::nullopt : std::optional(*found);
}

Error damage_error(const ImageRecord& image, const ImageBlob& blob) {
  return {ExitCode::store,
          fmt::format("{} is damaged: {}, {}, {}", image.name(), blob.what, blob.digest.text(), blob.damage),
          kDamageRemedy};
}

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
