#include "factory/run/push_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "factory/base/in_parallel.h"
#include "factory/distribution/image_index.h"
#include "factory/oci/layout.h"
#include "registry/index/image_patterns.h"

namespace kiln {
namespace {

Platform platform_in(const BlobStore& store, const ImageRecord& image) {
  const std::string bytes = store.read(image.manifest);
  const Manifest manifest = manifest_from_json(JsonDocument::parse(bytes, image.manifest.text()).root());
  const std::string config = store.read(manifest.config.digest);
  return platform_of(image_config_from_json(JsonDocument::parse(config, "the image's").root()));
}

class AliasChooser {
 public:
  AliasChooser(const std::vector<IndexEntry>& entries, const std::string& registry, const BlobStore& store)
      : store_(store) {
    for (const IndexEntry& entry : entries)
      if (!entry.image.external() && entry.image.published.registry == registry) entries_.push_back(&entry);
  }

  void choose(const SiteAlias& alias) {
    if (const ImageRecord* own = image_of_this_name(alias)) {
      chosen_.unclear.push_back(
          fmt::format("{}: it is the name of an image itself ({})", alias.name(), own->name()));
      return;
    }
    const ImagePatterns patterns(alias.images);
    std::map<Platform, const ImageRecord*> images;
    for (const IndexEntry* entry : entries_) {
      if (!entry->retired.empty() || !patterns.match(*entry)) continue;
      const auto [first, is_new] = images.emplace(platform_in(store_, entry->image), &entry->image);
      if (is_new || first->second->manifest == entry->image.manifest) continue;
      chosen_.unclear.push_back(fmt::format("{}: {} and {} are both for {}", alias.name(),
                                            first->second->name(), entry->image.name(), first->first.text()));
      return;
    }
    if (images.empty())
      chosen_.empty.push_back(alias.name());
    else
      chosen_.clear.push_back({alias.repository, alias.tag, {images.begin(), images.end()}});
  }

  ChosenAliases chosen() { return std::move(chosen_); }

 private:
  const ImageRecord* image_of_this_name(const SiteAlias& alias) const {
    for (const IndexEntry* entry : entries_)
      if (entry->image.repository == alias.repository &&
          (entry->image.tag == alias.tag || entry->image.immutable_tag == alias.tag))
        return &entry->image;
    return nullptr;
  }

  const BlobStore& store_;
  std::vector<const IndexEntry*> entries_;
  ChosenAliases chosen_;
};

// Whether the registry has the image's latest words on its gain. True where it takes no such documents.
bool has_gain_words(const ImageRecord& image, const PushedRecord& record) {
  const Attachment* words = image.attachment(kGainKind);
  return words == nullptr || record.referrers.empty() ||
         std::ranges::find(record.referrers, words->referrer) != record.referrers.end();
}

}  // namespace

ChosenAliases choose_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
                             const std::string& registry, const BlobStore& store) {
  AliasChooser chooser(entries, registry, store);
  for (const SiteAlias& alias : aliases) chooser.choose(alias);
  return chooser.chosen();
}

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
  const std::lock_guard lock(mutex_);
  auto [known, is_new] = tags_.try_emplace(repository);
  if (is_new)
    if (auto tags = client_.tags(repository)) known->second.insert(tags->begin(), tags->end());
  return known->second.contains(tag);
}

std::string RegistryPublisher::place_of(const std::string& repository, const Digest& digest) const {
  return fmt::format("{}/{}@{}", address_.host, repository, digest.text());
}

// --- images

// What is known of an image that needs nothing more there; nullopt where it has to be pushed.
std::optional<PushedRecord> RegistryPublisher::known(const std::string& repository,
                                                     const ImageRecord& image) {
  const auto record = pushed_.image(place_of(repository, image.manifest));
  if (!record || record->going) return std::nullopt;
  const bool sif_is_there = image.attachment("sif") == nullptr || !record->sif.empty();
  const bool is_signed = key_ == nullptr || record->signed_by == key_->id();
  const bool complete =
      sif_is_there && is_signed && has_gain_words(image, *record) && has_tag(repository, image.immutable_tag);
  return complete ? record : std::nullopt;
}

PushedRecord RegistryPublisher::push_to(const std::string& repository, const ImageRecord& image,
                                        const std::string& progress) {
  if (tell_)
    tell_(fmt::format("pushing {}/{}:{}{}", address_.host, repository, image.immutable_tag, progress));
  const PushedImage done = pusher_.push({repository, image.manifest, image.immutable_tag, image.created,
                                         image.attachments, key_, address_.repository(image.repository)});
  PushedRecord record{done.sif, key_ == nullptr ? "" : key_->id(), image.immutable_tag, done.referrers};
  record.listed_by_tag = done.listed_by_tag;
  remove_superseded(repository, image, record);
  const std::lock_guard lock(mutex_);
  pushed_.put_image(place_of(repository, image.manifest), record);
  if (auto listed = tags_.find(repository); listed != tags_.end()) listed->second.insert(image.immutable_tag);
  return record;
}

// False where the registry refuses.
bool RegistryPublisher::delete_referrer(const std::string& repository, const Digest& referrer) {
  try {
    return client_.delete_manifest(repository, referrer.text()) != RegistryClient::Deletion::unsupported;
  } catch (const Error& error) {
    if (error.code() != ExitCode::network) throw;
    return false;
  }
}

// Removes the referrers that an earlier push of the image left and this one replaced: words on its gain that
// later measurements have changed. What the registry does not delete stays in `record`, and goes with the
// image when garbage is collected.
void RegistryPublisher::remove_superseded(const std::string& repository, const ImageRecord& image,
                                          PushedRecord& record) {
  const auto is_of_now = [&](const Digest& one) {
    return std::ranges::find(record.referrers, one) != record.referrers.end();
  };
  std::vector<Digest> old;
  {
    const std::lock_guard lock(mutex_);
    const auto before = pushed_.image(place_of(repository, image.manifest));
    if (!before || before->going || record.referrers.empty()) return;
    std::ranges::copy_if(before->referrers, std::back_inserter(old), std::not_fn(is_of_now));
  }
  std::vector<Digest> gone;
  for (const Digest& one : old) (delete_referrer(repository, one) ? gone : record.referrers).push_back(one);
  if (gone.empty() || !record.listed_by_tag) return;
  const std::string tag = referrers_tag(image.manifest);
  const auto list = unless_broken([&] { return client_.manifest(repository, tag); });
  const auto less = list ? without_referrers(list->bytes, gone) : std::nullopt;
  if (less && *less != list->bytes) client_.put_manifest(repository, tag, list->media_type, *less);
}

void RegistryPublisher::push(std::vector<ImageRecord>& images) {
  std::vector<const ImageRecord*> lacking;
  std::set<std::string> places;  // the same bits may have two names
  for (const ImageRecord& image : images) {
    const std::string repository = address_.repository(image.repository);
    if (!known(repository, image) && places.insert(place_of(repository, image.manifest)).second)
      lacking.push_back(&image);
  }
  std::atomic<std::size_t> begun{0};
  in_parallel(lacking.size(), kConnections, [&](std::size_t number) {
    const std::size_t nth = ++begun;
    push_to(address_.repository(lacking[number]->repository), *lacking[number],
            lacking.size() == 1 ? "" : fmt::format(" ({} of {})", nth, lacking.size()));
  });
  report_.pushed += lacking.size();
  report_.unchanged += images.size() - lacking.size();
  for (ImageRecord& image : images) {
    const auto record = pushed_.image(place_of(address_.repository(image.repository), image.manifest));
    image.published = {address_.text(), record->sif};
  }
}

// --- tags

// `is_known`: kiln has moved it.
std::optional<Digest> RegistryPublisher::named_by(const TagMove& move, bool is_known) {
  auto named = unless_broken([&] { return client_.resolve(move.repository, move.tag); });
  if (named == move.digest || (!named && !is_known)) return named;
  // A registry may answer HEAD with another digest, or with none, than it gives the manifest.
  const auto read = unless_broken([&] { return client_.manifest(move.repository, move.tag); });
  return read ? std::optional(read->digest) : std::nullopt;
}

// A registry refuses a tag of an image of which it has lost a part: that is pushed again, once.
void RegistryPublisher::write_tag(const TagMove& move, const std::optional<Digest>& from) {
  for (bool again : {false, true}) {
    try {
      client_.move_tag(move.repository, move.tag, from, std::string(move.media_type), move.bytes());
      return;
    } catch (const MissingBlob& missing) {
      if (again)
        throw Error(ExitCode::network,
                    fmt::format("{}/{}:{}: the registry accepted what the tag names, but does "
                                "not have it: {}",
                                address_.host, move.repository, move.tag, missing.message()));
      for (const ImageRecord* image : move.images) push_to(move.repository, *image);
    }
  }
}

RegistryPublisher::MovedTag RegistryPublisher::move_tag(const TagMove& move, bool take) {
  const std::string name = fmt::format("{}/{}:{}", address_.host, move.repository, move.tag);
  const auto known = [&] {
    const std::lock_guard lock(mutex_);
    return pushed_.tag(name);
  };
  const auto before = known();
  auto now = named_by(move, before.has_value());
  MovedTag done;
  if (now != move.digest && (!now || now == before || take)) {
    const bool was_lost = !now && before;
    if (tell_) tell_("moving " + name);
    write_tag(move, now);
    now = named_by(move, true);
    done.moved = now == move.digest;
    if (done.moved && was_lost) done.mended = fmt::format("{}: the tag was missing, and is set again", name);
  }
  if (now != move.digest) {
    done.foreign = fmt::format("{}: it names {}, and {}", name, now ? now->text() : "nothing",
                               before ? "kiln had moved it to " + before->text() : "kiln has never moved it");
  } else if (before != now) {
    const std::lock_guard lock(mutex_);
    pushed_.put_tag(name, move.digest);
  }
  return done;
}

void RegistryPublisher::count(const MovedTag& tag) {
  if (tag.moved) ++report_.moved;
  if (!tag.foreign.empty()) report_.foreign.push_back(tag.foreign);
  if (!tag.mended.empty()) report_.mended.push_back(tag.mended);
}

bool RegistryPublisher::is_ours(const IndexEntry& entry) const {
  return !entry.image.external() && entry.retired.empty() &&
         entry.image.published.registry == address_.text();
}

void RegistryPublisher::move_tags(const std::vector<IndexEntry>& entries, bool take) {
  std::vector<const ImageRecord*> images;
  for (const IndexEntry& entry : entries)
    if (is_ours(entry)) images.push_back(&entry.image);
  std::vector<MovedTag> done(images.size());
  in_parallel(images.size(), kConnections, [&](std::size_t number) {
    const ImageRecord& image = *images[number];
    done[number] = move_tag({address_.repository(image.repository),
                             image.tag,
                             image.manifest,
                             media_type::kManifest,
                             [&] { return store_.read(image.manifest); },
                             {&image}},
                            take);
  });
  for (const MovedTag& tag : done) count(tag);
}

// --- the site's names

std::string RegistryPublisher::index_of(const AliasedImages& alias) const {
  std::vector<PlatformImage> images;
  for (const auto& [platform, image] : alias.images) {
    const auto size = store_.size_of(image->manifest).value_or(0);
    images.push_back({platform, {std::string(media_type::kManifest), image->manifest, size, {}}});
  }
  return platform_index(images);
}

void RegistryPublisher::move_alias(const AliasedImages& alias, bool take) {
  std::string bytes = index_of(alias);
  TagMove move{address_.repository(alias.repository), alias.tag, Digest::of(bytes), media_type::kImageIndex,
               [&bytes]() -> std::string { return bytes; }};
  for (const auto& [platform, image] : alias.images) move.images.push_back(image);
  for (const auto& [platform, image] : alias.images)
    if (!known(move.repository, *image)) push_to(move.repository, *image);
  const std::string place = place_of(move.repository, move.digest);
  if (const auto index = pushed_.image(place); !index || index->going) {
    PushedRecord record;
    record.is_index = true;
    pushed_.put_image(place, record);
  }
  count(move_tag(move, take));
}

void RegistryPublisher::move_aliases(const std::vector<SiteAlias>& aliases,
                                     const std::vector<IndexEntry>& entries, bool take) {
  const ChosenAliases chosen = choose_aliases(aliases, entries, address_.text(), store_);
  for (const AliasedImages& alias : chosen.clear) move_alias(alias, take);
  report_.unclear = chosen.unclear;
  for (const std::string& name : chosen.empty)
    if (tell_) tell_(fmt::format("warning: {}: no image of the index is meant, and it stays as it is", name));
}

}  // namespace kiln
