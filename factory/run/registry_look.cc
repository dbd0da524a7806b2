#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/distribution/image_index.h"
#include "factory/distribution/push.h"
#include "factory/distribution/signature.h"
#include "factory/run/push_images.h"

namespace kiln {
namespace {

constexpr std::int64_t kWeek = 604'800;
constexpr std::int64_t kNight = 86'400;
constexpr const char* kGone = "is missing";

std::string with_digest(const std::string& what, const Digest& digest) {
  return fmt::format("{}, {}", what, digest.text());
}

}  // namespace

LookParts every_part() {
  LookParts parts;
  for (std::size_t part = 0; part < kLookParts; ++part) parts.insert(part);
  return parts;
}

LookParts due_parts(const LookTimes& looked, std::int64_t now) {
  LookParts due = {static_cast<std::size_t>(std::ranges::min_element(looked) - looked.begin())};
  for (std::size_t part = 0; part < kLookParts; ++part) {
    const bool too_old = looked.at(part) != 0 && now + kNight - looked.at(part) > kWeek + kNight / 2;
    if (too_old || looked.at(part) > now) due.insert(part);
  }
  return due;
}

LookParts parts_tonight(std::size_t images, const LookTimes& looked, std::int64_t now) {
  constexpr std::size_t kFew = 250;  // some thousand questions: seconds
  return images <= kFew ? every_part() : due_parts(looked, now);
}

std::size_t part_of(const Digest& digest) {
  return static_cast<std::size_t>(std::stoul(digest.hex().substr(0, 7), nullptr, 16)) % kLookParts;
}

struct RegistryLook::Going {
  const ImageInRegistry& placed;
  std::vector<LostPart> lost{};
  const ImageRecord& image() const { return *placed.image; }
  // False: the registry took no such manifest when the image was pushed.
  bool was_pushed(const Digest& referrer) const {
    const PushedRecord& pushed = placed.pushed;
    const bool is_known = !pushed.immutable_tag.empty();
    return !is_known || std::ranges::find(pushed.referrers, referrer) != pushed.referrers.end();
  }
};

template <typename Ask>
std::string RegistryLook::ask_once(const std::string& repository, const std::string& what, const Ask& ask) {
  const std::string name = repository + "@" + what;
  {
    const std::lock_guard lock(mutex_);
    if (auto known = said_.find(name); known != said_.end()) return known->second;
  }
  std::string damage = ask();
  const std::lock_guard lock(mutex_);
  return said_[name] = std::move(damage);
}

void RegistryLook::look_at_manifest(Going& going, const std::string& what, const Digest& digest) {
  const std::string& repository = going.placed.repository;
  std::string damage = ask_once(repository, digest.text(), [&] {
    return client_.manifest_damage(repository, digest, is_close(digest));
  });
  if (!damage.empty()) going.lost.push_back({with_digest(what, digest), std::move(damage)});
}

void RegistryLook::look_at_blob(Going& going, const std::string& what, const Descriptor& blob) {
  if (!is_close(blob.digest)) return;
  const std::string& repository = going.placed.repository;
  std::string damage = ask_once(repository, blob.digest.text(),
                                [&] { return client_.blob_damage(repository, blob, terms_.read); });
  if (!damage.empty()) going.lost.push_back({with_digest(what, blob.digest), std::move(damage), blob.digest});
}

// What a manifest of our store names. What the store has lost, `kiln index fsck` says.
void RegistryLook::look_at_blobs(Going& going, const std::string& of, const Digest& manifest) {
  std::optional<Manifest> read;
  try {
    read = manifest_from_json(JsonDocument::parse(store_.read(manifest), manifest.text()).root());
  } catch (const Error&) {
    const auto there = client_.manifest(going.placed.repository, manifest.text());
    if (!there) return;
    read = manifest_from_json(JsonDocument::parse(there->bytes, manifest.text()).root());
  }
  look_at_blob(going, "the configuration" + of, read->config);
  for (std::size_t i = 0; i < read->layers.size(); ++i)
    look_at_blob(going, of.empty() ? fmt::format("layer {}", i + 1) : "the document" + of, read->layers[i]);
}

void RegistryLook::look_at_attachment(Going& going, const Attachment& attachment) {
  if (!attachment.referrer.empty()) {
    if (!going.was_pushed(attachment.referrer)) return;
    look_at_manifest(going, "the manifest of " + attachment.kind, attachment.referrer);
    return look_at_blobs(going, " of " + attachment.kind, attachment.referrer);
  }
  if (going.placed.pushed.sif.empty()) return;
  look_at_manifest(going, "the manifest of the SIF", going.placed.pushed.sif);
  look_at_blob(going, "the configuration of the SIF",
               {"", Digest::of(kEmptyDocument), kEmptyDocument.size(), {}});
  look_at_blob(going, "the SIF", attachment.blob);
}

void RegistryLook::look_at_tag(Going& going) {
  const std::string& repository = going.placed.repository;
  const std::string& tag = going.image().immutable_tag;
  auto named = unless_broken([&] { return client_.resolve(repository, tag); });
  if (named == going.image().manifest) return;
  // A registry may answer HEAD with another digest, or with none, than it gives the manifest.
  const auto read = unless_broken([&] { return client_.manifest(repository, tag); });
  if (read && read->digest == going.image().manifest) return;
  going.lost.push_back({"the tag " + tag, read ? "names " + read->digest.text() : kGone});
}

void RegistryLook::look_at_list(Going& going) {
  const PushedRecord& pushed = going.placed.pushed;
  if (!pushed.listed_by_tag || pushed.referrers.empty()) return;
  const std::string tag = referrers_tag(going.image().manifest);
  const auto list = unless_broken([&] { return client_.manifest(going.placed.repository, tag); });
  const std::vector<Digest> has = list ? parts_of_index(list->bytes) : std::vector<Digest>();
  const bool has_all =
      std::all_of(pushed.referrers.begin(), pushed.referrers.end(),
                  [&](const Digest& referrer) { return std::ranges::find(has, referrer) != has.end(); });
  if (!has_all) going.lost.push_back({"the list of its documents, " + tag, list ? "lacks some" : kGone});
}

void RegistryLook::look_at_signature(Going& going) {
  const PushedRecord& pushed = going.placed.pushed;
  if (pushed.signed_by.empty()) return;
  const std::string tag = signatures_tag(going.image().manifest);
  const auto lose = [&](const char* damage) { going.lost.push_back({"its signature, " + tag, damage}); };
  const auto now = unless_broken([&] { return client_.manifest(going.placed.repository, tag); });
  if (!now) return lose(kGone);
  const std::string claim = signed_claim(
      fmt::format("{}/{}:{}", client_.address().host, going.placed.repository, going.image().immutable_tag),
      going.image().manifest);
  try {
    if (terms_.key != nullptr && terms_.key->id() == pushed.signed_by &&
        with_signature(now->bytes, claim, *terms_.key))
      return lose("is not ours");
  } catch (const Error&) {
    return lose("is no signature");
  }
  look_at_blob(going, "the claim that is signed", {"", Digest::of(claim), claim.size(), {}});
}

std::vector<LostPart> RegistryLook::look(const ImageInRegistry& image) {
  Going going{image};
  look_at_manifest(going, "the manifest", image.image->manifest);
  look_at_blobs(going, "", image.image->manifest);
  for (const Attachment& attachment : image.image->attachments) look_at_attachment(going, attachment);
  look_at_list(going);
  look_at_signature(going);
  look_at_tag(going);
  return std::move(going.lost);
}

}  // namespace kiln
