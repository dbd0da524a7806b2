#include "factory/run/push_images.h"

#include <fmt/format.h>

#include "factory/distribution/platform_index.h"

namespace kiln {

RegistryPublisher::RegistryPublisher(RegistryClient& client, const BlobStore& store, PushedNames& pushed,
                                     const SigningKey* key, std::function<void(const std::string&)> tell)
    : client_(client),
      address_(client.address()),
      store_(store),
      pushed_(pushed),
      key_(key),
      pusher_(client, store, tell),
      tell_(std::move(tell)) {}

bool RegistryPublisher::has_tag(const std::string& repository, const std::string& tag) {
  auto [known, is_new] = tags_.try_emplace(repository);
  if (is_new)
    if (auto tags = client_.tags(repository)) known->second.insert(tags->begin(), tags->end());
  return known->second.contains(tag);
}

std::string RegistryPublisher::place_of(const std::string& repository, const Digest& digest) const {
  return fmt::format("{}/{}@{}", address_.host, repository, digest.text());
}

// What is known of an image that needs nothing more there; nullopt where it has to be pushed.
std::optional<PushedRecord> RegistryPublisher::known(const std::string& repository,
                                                     const ImageRecord& image) {
  const auto record = pushed_.image(place_of(repository, image.manifest));
  if (!record || record->going) return std::nullopt;
  const bool sif_is_there = image.attachment("sif") == nullptr || !record->sif.empty();
  const bool is_signed = key_ == nullptr || record->signed_by == key_->id();
  const bool complete = sif_is_there && is_signed && has_tag(repository, image.immutable_tag);
  return complete ? record : std::nullopt;
}

PushedRecord RegistryPublisher::push_to(const std::string& repository, const ImageRecord& image) {
  if (tell_) tell_(fmt::format("pushing {}/{}:{}", address_.host, repository, image.immutable_tag));
  const PushedImage done = pusher_.push({repository, image.manifest, image.immutable_tag, image.created,
                                         image.attachments, key_, address_.repository(image.repository)});
  PushedRecord record{done.sif, key_ == nullptr ? "" : key_->id(), image.immutable_tag, done.referrers};
  pushed_.put_image(place_of(repository, image.manifest), record);
  if (auto listed = tags_.find(repository); listed != tags_.end()) listed->second.insert(image.immutable_tag);
  return record;
}

void RegistryPublisher::push(ImageRecord& image) {
  const std::string repository = address_.repository(image.repository);
  auto record = known(repository, image);
  ++(record ? report_.unchanged : report_.pushed);
  if (!record) record = push_to(repository, image);
  image.published = {address_.text(), record->sif};
}

bool RegistryPublisher::is_moved(const TagMove& move) {
  return pushed_.tag(fmt::format("{}/{}:{}", address_.host, move.repository, move.tag)) == move.digest &&
         has_tag(move.repository, move.tag);
}

// Somebody's garbage collection may have taken what kiln pushed there earlier: it is pushed again, once.
void RegistryPublisher::write_tag(const TagMove& move, const std::optional<Digest>& from) {
  auto write = [&] {
    client_.move_tag(move.repository, move.tag, from, std::string(move.media_type), move.bytes());
  };
  try {
    write();
  } catch (const MissingBlob&) {
    for (const ImageRecord* image : move.images) push_to(move.repository, *image);
    write();
  }
}

void RegistryPublisher::move_tag(const TagMove& move, bool take) {
  const std::string name = fmt::format("{}/{}:{}", address_.host, move.repository, move.tag);
  const auto before = pushed_.tag(name);
  const auto resolved = [&] { return client_.resolve(move.repository, move.tag); };
  auto now = unless_broken(resolved);
  if (now != move.digest && (!now || now == before || take)) {
    if (tell_) tell_("moving " + name);
    write_tag(move, now);
    now = unless_broken(resolved);
    if (now == move.digest) ++report_.moved;
  }
  if (now == move.digest)
    pushed_.put_tag(name, move.digest);
  else
    report_.foreign.push_back(
        fmt::format("{}: it names {}, and {}", name, now ? now->text() : "nothing",
                    before ? "kiln had moved it to " + before->text() : "kiln has never moved it"));
}

void RegistryPublisher::move_tags(const std::vector<IndexEntry>& entries, bool take) {
  for (const IndexEntry& entry : entries) {
    const ImageRecord& image = entry.image;
    if (image.external() || image.published.registry != address_.text()) continue;
    const TagMove move{
        address_.repository(image.repository),       image.tag, image.manifest, media_type::kManifest,
        [&] { return store_.read(image.manifest); }, {&image}};
    if (!is_moved(move)) move_tag(move, take);
  }
}

// --- the site's names

void RegistryPublisher::move_alias(const AliasedImages& alias, bool take) {
  std::vector<PlatformImage> images;
  std::vector<const ImageRecord*> records;
  for (const auto& [platform, image] : alias.images) {
    const auto size = store_.size_of(image->manifest).value_or(0);
    images.push_back({platform, {std::string(media_type::kManifest), image->manifest, size, {}}});
    records.push_back(image);
  }
  std::string bytes = platform_index(images);
  const TagMove move{
      address_.repository(alias.repository),       alias.tag, Digest::of(bytes), media_type::kImageIndex,
      [&bytes]() -> std::string { return bytes; }, records};
  if (is_moved(move)) return;
  for (const auto& [platform, image] : alias.images)
    if (!known(move.repository, *image)) push_to(move.repository, *image);
  PushedRecord index;
  index.is_index = true;
  pushed_.put_image(place_of(move.repository, move.digest), index);
  move_tag(move, take);
}

void RegistryPublisher::move_aliases(const std::vector<SiteAlias>& aliases,
                                     const std::vector<IndexEntry>& entries, bool take) {
  const ChosenAliases chosen = choose_aliases(aliases, entries, address_.text(), store_);
  for (const AliasedImages& alias : chosen.clear) move_alias(alias, take);
  report_.unclear = chosen.unclear;
  for (const std::string& name : chosen.empty)
    if (tell_) tell_(fmt::format("{}: no image of the index is meant, and it stays as it is", name));
}

}  // namespace kiln
