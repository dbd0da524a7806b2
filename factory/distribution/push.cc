#include "factory/distribution/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/distribution/referrers_index.h"
#include "factory/distribution/signature.h"
#include "factory/oci/blob_damage.h"

namespace kiln {
namespace {

constexpr const char* kSifConfig = "application/vnd.sylabs.sif.config.v1+json";
constexpr int kMostTries = 5;  // of a list that others write as well

}  // namespace

std::string referrers_tag(const Digest& subject) { return "sha256-" + subject.hex(); }

std::string sif_manifest(const Attachment& sif, const Descriptor& subject, const std::string& created) {
  Manifest manifest;
  manifest.config = {kSifConfig, Digest::of(kEmptyDocument), kEmptyDocument.size(), {}};
  Descriptor layer{sif.blob.media_type, sif.blob.digest, sif.blob.size, {}};
  layer.annotations["org.opencontainers.image.title"] = "image.sif";
  manifest.layers = {layer};
  manifest.artifact_type = sif.blob.media_type;
  manifest.subject = Descriptor{subject.media_type, subject.digest, subject.size, {}};
  manifest.annotations["org.opencontainers.image.created"] = created;
  return to_json(manifest).dump();
}

// --- blobs

bool Pusher::knows(const std::string& repository, const Digest& digest) const {
  auto found = there_.find(repository);
  return found != there_.end() && found->second.contains(digest);
}

bool Pusher::mount_blob(const ImageToPush& image, const Digest& digest) {
  auto known = somewhere_.find(digest);
  const std::string& from = known == somewhere_.end() ? image.elsewhere : known->second;
  return !from.empty() && from != image.repository && client_.mount_blob(image.repository, digest, from);
}

void Pusher::push_blob(const ImageToPush& image, const Descriptor& blob) {
  const std::string& repository = image.repository;
  if (knows(repository, blob.digest)) return;
  if (client_.has_blob(repository, blob.digest, blob.size)) {
    ++count_.there;
  } else if (mount_blob(image, blob.digest)) {
    sent_.push_back(blob);
    ++count_.mounted;
  } else {
    send_blob(repository, blob);
    sent_.push_back(blob);
    ++count_.blobs;
    count_.bytes += blob.size;
  }
  there_[repository].insert(blob.digest);
  somewhere_.emplace(blob.digest, repository);
}

// The registry finds out what is damaged here: who read it all before would read everything twice.
void Pusher::send_blob(const std::string& repository, const Descriptor& blob) {
  auto damaged = [&](const std::string& damage) {
    throw Error(ExitCode::store, fmt::format("{} {}", blob.digest.text(), damage), kDamageRemedy);
  };
  if (std::string damage = seen_damage(store_, blob.digest, blob.size); !damage.empty()) damaged(damage);
  try {
    client_.put_blob(repository, blob, store_.path(blob.digest));
  } catch (const WrongDigest& wrong) {
    if (std::string damage = read_damage(store_, blob.digest, blob.size); !damage.empty()) damaged(damage);
    throw Error(ExitCode::network, wrong.message() + ", and it is whole here");
  }
}

void Pusher::push_text(const std::string& repository, const std::string& bytes) {
  const Descriptor blob{"", Digest::of(bytes), bytes.size(), {}};
  if (knows(repository, blob.digest)) return;
  if (!client_.has_blob(repository, blob.digest, blob.size)) {
    client_.put_blob(repository, bytes);
    sent_.push_back(blob);
  }
  there_[repository].insert(blob.digest);
}

// --- manifests

std::string Pusher::place_of(const ImageToPush& image) const {
  return client_.address().host + "/" + image.repository;
}

void Pusher::keep_immutable_tag(const ImageToPush& image, const std::string& bytes) {
  const auto names = unless_broken([&] { return client_.resolve(image.repository, image.immutable_tag); });
  if (names == image.manifest) return;
  if (names)
    throw Error(ExitCode::locked,
                fmt::format("{}:{} names {} there, and {} here", place_of(image), image.immutable_tag,
                            names->text(), image.manifest.text()),
                "such a tag never moves: another kiln has published other bits of the same key");
  client_.put_manifest(image.repository, image.immutable_tag, std::string(media_type::kManifest), bytes);
}

Descriptor Pusher::push_referrer(const ImageToPush& image, const Attachment& attachment,
                                 const Descriptor& subject, bool& listed) {
  std::string bytes;
  if (attachment.referrer.empty()) {
    push_text(image.repository, std::string(kEmptyDocument));
    push_blob(image, attachment.blob);
    bytes = sif_manifest(attachment, subject, image.created);
  } else {
    bytes = store_.read(attachment.referrer);
    const Manifest manifest = manifest_from_json(JsonDocument::parse(bytes, attachment.kind).root());
    push_blob(image, manifest.config);
    for (const Descriptor& layer : manifest.layers) push_blob(image, layer);
  }
  Descriptor descriptor = referrer_descriptor(bytes);
  const bool by_registry = client_.put_manifest(image.repository, descriptor.digest.text(),
                                                std::string(media_type::kManifest), bytes);
  listed = listed && by_registry;
  return descriptor;
}

// Others may write the same list at the same time, and no registry of Debian's compares before it writes: so
// it is read again until ours are in it.
void Pusher::list_under_tag(const ImageToPush& image, const std::vector<Descriptor>& referrers) {
  const std::string tag = referrers_tag(image.manifest);
  auto lists_nothing = [&](const std::string& why) {
    warn_once("lists no referrers: SIF files and documents are there under their digests only", why);
  };
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto now = unless_broken([&] { return client_.manifest(image.repository, tag); });
    // GitLab takes that tag for the digest.
    if (now && now->digest == image.manifest)
      return lists_nothing(fmt::format("{} is the image itself", tag));
    const auto index = with_referrers(now ? now->bytes : "", referrers);
    if (!index) return;
    try {
      client_.put_manifest(image.repository, tag, std::string(media_type::kImageIndex), *index);
    } catch (const RefusedManifest& refused) {
      return lists_nothing(refused.message());
    }
  }
  throw Error(ExitCode::network,
              fmt::format("{}:{}: the list of referrers does not keep ours; somebody else writes it",
                          place_of(image), tag));
}

// Before any tag names it: whoever checks signatures never meets one without. Others may sign at the same
// time, so it is read again until ours is in it.
void Pusher::sign(const ImageToPush& image) {
  if (image.key == nullptr) return;
  const std::string tag = signatures_tag(image.manifest);
  const std::string claim =
      signed_claim(fmt::format("{}:{}", place_of(image), image.immutable_tag), image.manifest);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto now = unless_broken([&] { return client_.manifest(image.repository, tag); });
    const auto more = with_signature(now ? now->bytes : "", claim, *image.key);
    if (!more) return;
    for (const std::string& blob : more->blobs) push_text(image.repository, blob);
    client_.put_manifest(image.repository, tag, std::string(media_type::kManifest), more->manifest);
  }
  throw Error(
      ExitCode::network,
      fmt::format("{}:{}: the signatures do not keep ours; somebody else writes them", place_of(image), tag));
}

// --- all of it

void Pusher::warn_once(const std::string& what, const std::string& why) {
  if (warned_.insert(what).second && warn_)
    warn_(fmt::format("{} {} ({})", client_.address().host, what, why));
}

void Pusher::push_referrers(const ImageToPush& image, const Descriptor& subject, PushedImage& pushed) {
  bool listed = true;
  std::vector<Descriptor> referrers;
  try {
    for (const Attachment& attachment : image.attachments) {
      referrers.push_back(push_referrer(image, attachment, subject, listed));
      pushed.referrers.push_back(referrers.back().digest);
      if (attachment.kind == "sif") pushed.sif = referrers.back().digest;
    }
  } catch (const RefusedManifest& refused) {
    warn_once("takes no artifacts: images are published there without their SIF files and documents",
              refused.message());
  }
  if (!listed) list_under_tag(image, referrers);
}

void Pusher::push_once(const ImageToPush& image, PushedImage& pushed) {
  const std::string bytes = store_.read(image.manifest);
  const Descriptor subject{std::string(media_type::kManifest), image.manifest, bytes.size(), {}};
  const Manifest manifest = manifest_from_json(JsonDocument::parse(bytes, image.manifest.text()).root());
  push_blob(image, manifest.config);
  for (const Descriptor& layer : manifest.layers) push_blob(image, layer);
  client_.put_manifest(image.repository, image.manifest.text(), std::string(media_type::kManifest), bytes);
  push_referrers(image, subject, pushed);
  sign(image);
  read_back(image, pushed);
  keep_immutable_tag(image, bytes);
}

void Pusher::read_back(const ImageToPush& image, const PushedImage& pushed) {
  auto lacks = [&](const std::string& what) {
    throw Error(ExitCode::network,
                fmt::format("{}: the registry took {}, and does not have it", place_of(image), what));
  };
  for (const Descriptor& blob : sent_)
    if (!client_.has_blob(image.repository, blob.digest, blob.size)) lacks(blob.digest.text());
  sent_.clear();
  if (!client_.manifest(image.repository, image.manifest.text())) lacks(image.manifest.text());
  for (const Digest& referrer : pushed.referrers)
    if (!client_.manifest(image.repository, referrer.text())) lacks(referrer.text());
}

PushedImage Pusher::push(const ImageToPush& image) {
  for (bool again : {false, true}) {
    PushedImage pushed;
    sent_.clear();
    try {
      push_once(image, pushed);
      return pushed;
    } catch (const MissingBlob& missing) {
      // The registry's garbage collection took what it had said to have.
      if (again)
        throw Error(ExitCode::network, fmt::format("the registry accepts blobs and does not return them: {}",
                                                   missing.message()));
      there_.erase(image.repository);
    }
  }
  return {};
}

}  // namespace kiln
