#include "registry/image_blobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

class BlobList {
 public:
  explicit BlobList(const BlobStore& store) : store_(store) {}

  void add(std::string what, const Descriptor& blob, bool in_layout = true) {
    if (knows(blob.digest)) return;
    blobs_.push_back(
        {std::move(what), blob.digest, blob.size, in_layout, damage_of(store_, blob.digest, blob.size)});
  }

  // The manifest's own blob, and what is in it; nullopt when it is damaged.
  std::optional<Manifest> add_manifest(std::string what, const Digest& digest) {
    blobs_.push_back({std::move(what), digest, 0, true, store_.has(digest) ? "" : "is missing"});
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

std::string damage_of(const BlobStore& store, const Digest& digest, std::uint64_t size) {
  auto found = store.size_of(digest);
  if (!found) return "is missing";
  if (*found == size) return "";
  if (*found == 0) return "is empty";
  return fmt::format("has {} of {} bytes", *found, size);
}

std::vector<ImageBlob> blobs_of(const ImageRecord& image, const BlobStore& store) {
  BlobList list(store);
  if (auto manifest = list.add_manifest("manifest", image.manifest)) {
    list.add("configuration", manifest->config);
    for (std::size_t i = 0; i < manifest->layers.size(); ++i)
      list.add(fmt::format("layer {}", i + 1), manifest->layers[i]);
  }
  for (const Attachment& attachment : image.attachments) {
    list.add(attachment.kind, attachment.blob, !attachment.referrer.empty());
    if (attachment.referrer.empty()) continue;
    if (auto referrer = list.add_manifest("referrer of " + attachment.kind, attachment.referrer))
      list.add("configuration of referrers", referrer->config);
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
