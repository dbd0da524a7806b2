#include "factory/record/image_blobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/oci/blob_damage.h"
#include "factory/oci/later_document.h"

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

  std::vector<ImageBlob> take() { return std::move(blobs_); }

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
  return list.take();
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

}  // namespace kiln
