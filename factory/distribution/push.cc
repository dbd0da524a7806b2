#include "factory/distribution/push.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/distribution/image_index.h"
#include "factory/distribution/signature.h"
#include "factory/oci/blob_store.h"

namespace kiln {
namespace {

constexpr const char* kSifConfig = "application/vnd.sylabs.sif.config.v1+json";
constexpr int kMostTries = 5;  // of a list that others write as well

}  // namespace

std::string referrers_tag(const Digest& subject) { return "sha256-" + subject.hex(); }

// The SIF of an image as `apptainer pull oras://…` takes it, with the image as its subject.
static std::string sif_manifest(const Attachment& sif, const Descriptor& subject,
                                const std::string& created) {
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

struct Pusher::Going {
  const ImageToPush& image;
  PushedImage pushed{};
  std::vector<Descriptor> sent{};  // to be read back
};

// What many images share, such as a base's layer, is sent by the first, and found or mounted by those that
// wait.
struct Pusher::BlobTurn {
  BlobTurn(Pusher& pusher, const Digest& blob) : pusher_(pusher), blob_(blob) {
    std::unique_lock lock(pusher_.mutex_);
    pusher_.arrived_.wait(lock, [&] { return pusher_.on_the_way_.insert(blob_).second; });
  }
  BlobTurn(const BlobTurn&) = delete;
  BlobTurn& operator=(const BlobTurn&) = delete;
  ~BlobTurn() {
    {
      const std::lock_guard lock(pusher_.mutex_);
      pusher_.on_the_way_.erase(blob_);
    }
    pusher_.arrived_.notify_all();
  }

 private:
  Pusher& pusher_;
  const Digest& blob_;
};

// --- what is known

PushCount Pusher::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void Pusher::expect_lost(const Digest& blob) {
  const std::lock_guard lock(mutex_);
  lost_.insert(blob);
  somewhere_.erase(blob);
  for (auto& [repository, blobs] : there_) blobs.erase(blob);
}

bool Pusher::knows(const std::string& repository, const Digest& digest) const {
  const std::lock_guard lock(mutex_);
  auto found = there_.find(repository);
  return found != there_.end() && found->second.contains(digest);
}

bool Pusher::is_lost(const Digest& digest) const {
  const std::lock_guard lock(mutex_);
  return lost_.contains(digest);
}

void Pusher::know(const std::string& repository, const Digest& digest) {
  const std::lock_guard lock(mutex_);
  there_[repository].insert(digest);
  somewhere_.emplace(digest, repository);
  lost_.erase(digest);
}

// --- blobs

bool Pusher::mount_blob(const ImageToPush& image, const Digest& digest) {
  std::string from = image.elsewhere;
  {
    const std::lock_guard lock(mutex_);
    if (auto known = somewhere_.find(digest); known != somewhere_.end()) from = known->second;
  }
  return !from.empty() && from != image.repository && client_.mount_blob(image.repository, digest, from);
}

// Or has been mounted there.
bool Pusher::is_there(Going& going, const Descriptor& blob) {
  const ImageToPush& image = going.image;
  if (is_lost(blob.digest)) return false;
  const bool there = !client_.lacks_blob(image.repository, blob.digest, blob.size);
  if (!there && !mount_blob(image, blob.digest)) return false;
  if (!there) going.sent.push_back(blob);
  const std::lock_guard lock(mutex_);
  ++(there ? count_.there : count_.mounted);
  return true;
}

void Pusher::push_blob(Going& going, const Descriptor& blob) {
  const std::string& repository = going.image.repository;
  if (knows(repository, blob.digest)) return;
  const BlobTurn turn(*this, blob.digest);
  if (knows(repository, blob.digest)) return;
  if (!is_there(going, blob)) {
    send_blob(repository, blob);
    going.sent.push_back(blob);
    const std::lock_guard lock(mutex_);
    ++count_.blobs;
    count_.bytes += blob.size;
  }
  know(repository, blob.digest);
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

void Pusher::push_text(Going& going, const std::string& bytes) {
  const std::string& repository = going.image.repository;
  const Descriptor blob{"", Digest::of(bytes), bytes.size(), {}};
  if (knows(repository, blob.digest)) return;
  const BlobTurn turn(*this, blob.digest);
  if (knows(repository, blob.digest)) return;
  if (is_lost(blob.digest) || client_.lacks_blob(repository, blob.digest, blob.size)) {
    client_.put_blob(repository, bytes);
    going.sent.push_back(blob);
  }
  know(repository, blob.digest);
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

Descriptor Pusher::push_referrer(Going& going, const Attachment& attachment, const Descriptor& subject) {
  const ImageToPush& image = going.image;
  std::string bytes;
  if (attachment.referrer.empty()) {
    push_text(going, std::string(kEmptyDocument));
    push_blob(going, attachment.blob);
    bytes = sif_manifest(attachment, subject, image.created);
  } else {
    bytes = store_.read(attachment.referrer);
    const Manifest manifest = manifest_from_json(JsonDocument::parse(bytes, attachment.kind).root());
    push_blob(going, manifest.config);
    for (const Descriptor& layer : manifest.layers) push_blob(going, layer);
  }
  Descriptor descriptor = referrer_descriptor(bytes);
  const bool by_registry = client_.put_manifest(image.repository, descriptor.digest.text(),
                                                std::string(media_type::kManifest), bytes);
  if (!by_registry) going.pushed.listed_by_tag = true;
  return descriptor;
}

// Others may write the same list at the same time, and no registry of Debian's compares before it writes: so
// it is read again until ours are in it. False: the registry refuses such a list.
bool Pusher::list_under_tag(const ImageToPush& image, const std::vector<Descriptor>& referrers) {
  const std::string tag = referrers_tag(image.manifest);
  auto lists_nothing = [&](const std::string& why) {
    warn_once("lists no referrers: SIF files and documents are there under their digests only", why);
    return false;
  };
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto now = unless_broken([&] { return client_.manifest(image.repository, tag); });
    // GitLab takes that tag for the digest.
    if (now && now->digest == image.manifest)
      return lists_nothing(fmt::format("{} is the image itself", tag));
    const auto index = with_referrers(now ? now->bytes : "", referrers);
    if (!index) return true;
    try {
      client_.put_manifest(image.repository, tag, std::string(media_type::kImageIndex), *index);
    } catch (const RefusedManifest& refused) {
      return lists_nothing(refused.message());
    }
  }
  throw Error(ExitCode::network,
              fmt::format("{}:{}: another program writes the list of referrers, and kiln's entries are lost",
                          place_of(image), tag));
}

// Before any tag names it: whoever checks signatures never meets one without. Others may sign at the same
// time, so it is read again until ours is in it.
void Pusher::sign(Going& going) {
  const ImageToPush& image = going.image;
  if (image.key == nullptr) return;
  const std::string tag = signatures_tag(image.manifest);
  const std::string claim =
      signed_claim(fmt::format("{}:{}", place_of(image), image.immutable_tag), image.manifest);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto now = unless_broken([&] { return client_.manifest(image.repository, tag); });
    const auto more = with_signature(now ? now->bytes : "", claim, *image.key);
    if (!more && is_lost(Digest::of(claim))) push_text(going, claim);
    if (!more) return;
    for (const std::string& blob : more->blobs) push_text(going, blob);
    client_.put_manifest(image.repository, tag, std::string(media_type::kManifest), more->manifest);
  }
  throw Error(
      ExitCode::network,
      fmt::format("{}:{}: another program writes the signatures, and kiln's are lost", place_of(image), tag));
}

// --- all of it

void Pusher::warn_once(const std::string& what, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.insert(what).second) return;
  }
  if (warn_) warn_(fmt::format("{} {} ({})", client_.address().host, what, why));
}

void Pusher::push_referrers(Going& going, const Descriptor& subject) {
  const ImageToPush& image = going.image;
  PushedImage& pushed = going.pushed;
  std::vector<Descriptor> referrers;
  try {
    for (const Attachment& attachment : image.attachments) {
      referrers.push_back(push_referrer(going, attachment, subject));
      pushed.referrers.push_back(referrers.back().digest);
      if (attachment.kind == "sif") pushed.sif = referrers.back().digest;
    }
  } catch (const RefusedManifest& refused) {
    warn_once("takes no artifacts: images are published there without their SIF files and documents",
              refused.message());
  }
  if (pushed.listed_by_tag) pushed.listed_by_tag = list_under_tag(image, referrers);
}

void Pusher::push_once(Going& going) {
  const ImageToPush& image = going.image;
  const std::string bytes = store_.read(image.manifest);
  const Descriptor subject{std::string(media_type::kManifest), image.manifest, bytes.size(), {}};
  const Manifest manifest = manifest_from_json(JsonDocument::parse(bytes, image.manifest.text()).root());
  push_blob(going, manifest.config);
  for (const Descriptor& layer : manifest.layers) push_blob(going, layer);
  client_.put_manifest(image.repository, image.manifest.text(), std::string(media_type::kManifest), bytes);
  push_referrers(going, subject);
  sign(going);
  read_back(going);
  keep_immutable_tag(image, bytes);
}

void Pusher::read_back(const Going& going) {
  const ImageToPush& image = going.image;
  auto lacks = [&](const std::string& what) {
    throw Error(ExitCode::network,
                fmt::format("{}: the registry took {}, and does not have it", place_of(image), what));
  };
  for (const Descriptor& blob : going.sent)
    if (!client_.has_blob(image.repository, blob.digest, blob.size)) lacks(blob.digest.text());
  if (!client_.manifest(image.repository, image.manifest.text())) lacks(image.manifest.text());
  for (const Digest& referrer : going.pushed.referrers)
    if (!client_.manifest(image.repository, referrer.text())) lacks(referrer.text());
}

PushedImage Pusher::push(const ImageToPush& image) {
  for (bool again : {false, true}) {
    Going going{image};
    try {
      push_once(going);
      return std::move(going.pushed);
    } catch (const MissingBlob& missing) {
      // The registry's garbage collection took what it had said to have.
      if (again)
        throw Error(ExitCode::network, fmt::format("the registry accepts blobs and does not return them: {}",
                                                   missing.message()));
      const std::lock_guard lock(mutex_);
      there_.erase(image.repository);
    }
  }
  return {};
}

}  // namespace kiln
