#include "factory/collect/registry_garbage.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/distribution/image_index.h"
#include "factory/distribution/push.h"
#include "factory/distribution/signature.h"

namespace kiln {
namespace {

constexpr const char* kUnneeded = "no snapshot that stays has it, and nothing else names it";

// "registry.site/ai/" for all that lies below the address.
std::string below(const RegistryAddress& address) { return address.text() + "/"; }

// A name of pushed.jsonl: "registry.site/ai/hello@sha256:…" or "registry.site/ai/hello:2.10-…".
struct PlacedName {
  std::string repository, reference;
};
PlacedName placed(const std::string& name, char before_reference) {
  const std::size_t slash = name.find('/');
  const std::size_t end = name.rfind(before_reference);
  return {name.substr(slash + 1, end - slash - 1), name.substr(end + 1)};
}

bool is_dead(const std::string& name, const Roots& roots) {
  return !roots.named.contains(name.substr(name.rfind(':') + 1));
}

// Without transport and digest: "registry.site/ai/hello:2.10".
std::string repository_and_tag(std::string_view reference) {
  for (std::string_view transport : {"docker://", "oras://"})
    if (reference.starts_with(transport)) reference.remove_prefix(transport.size());
  return std::string(reference.substr(0, reference.find('@')));
}

// `sha256-<hex>`, and what other tools hang on an image by such a tag: it names an image, and is no name of
// one.
bool hangs_on_an_image(const std::string& tag) {
  constexpr std::size_t kHex = 64;
  const std::string_view rest = std::string_view(tag).substr(std::min<std::size_t>(tag.size(), 7));
  return tag.starts_with("sha256-") && rest.size() >= kHex &&
         rest.substr(0, kHex).find_first_not_of("0123456789abcdef") == rest.npos &&
         (rest.size() == kHex || rest[kHex] == '.');
}

class RegistrySurveyor {
 public:
  explicit RegistrySurveyor(const RegistrySetup& setup) : setup_(setup), address_(setup.client.address()) {}

  RegistryGarbage find() {
    for (const auto& [name, record] : setup_.pushed.images()) add_image(name, record);
    name_what_stays();
    for (const auto& [name, digest] : setup_.pushed.tags()) add_tag(name, digest);
    if (!repositories_.empty() && setup_.roots.snapshots.empty())
      throw Error(
          ExitCode::store,
          fmt::format("there is no snapshot, so kiln cannot know what of {} is needed", address_.text()),
          "`kiln publish` or `kiln index recover` first");
    for (auto& [repository, candidates] : repositories_)
      if (is_worth_a_look(candidates)) look(repository, candidates);
    return std::move(found_);
  }

 private:
  struct Candidates {
    std::vector<RegistryTag> tags;
    std::vector<RegistryImage> indexes, images;
    std::set<Digest> named;  // by tags of ours that stay
  };

  void add_image(const std::string& name, const PushedRecord& record) {
    if (!name.starts_with(below(address_))) return;
    if (!record.is_index && !is_dead(name, setup_.roots)) return;
    const PlacedName place = placed(name, '@');
    Candidates& of = repositories_[place.repository];
    (record.is_index ? of.indexes : of.images)
        .push_back({name, place.repository, Digest::parse(place.reference), record, "", ""});
  }

  void add_tag(const std::string& name, const Digest& digest) {
    if (!name.starts_with(below(address_))) return;
    const PlacedName place = placed(name, ':');
    if (!names_.contains(name))
      repositories_[place.repository].tags.push_back({name, place.repository, place.reference, digest});
    else if (auto known = repositories_.find(place.repository); known != repositories_.end())
      known->second.named.insert(digest);
  }

  static bool is_worth_a_look(const Candidates& candidates) {
    return !candidates.images.empty() || !candidates.tags.empty() ||
           std::ranges::any_of(candidates.indexes, [&](const RegistryImage& index) {
             return !candidates.named.contains(index.digest);
           });
  }

  void name_what_stays() {
    for (const RecordedImage& one : setup_.roots.images) {
      if (!one.lives || one.image.external()) continue;
      add_names(address_.text(), one.image);
      if (!one.image.published.registry.empty()) add_names(one.image.published.registry, one.image);
    }
    for (const std::string& alias : setup_.aliases) names_.insert(below(address_) + alias);
    for (const std::string& reference : setup_.roots.references) names_.insert(repository_and_tag(reference));
  }

  void add_names(const std::string& registry, const ImageRecord& image) {
    for (const std::string& tag : {image.tag, image.immutable_tag})
      names_.insert(fmt::format("{}/{}:{}", registry, image.repository, tag));
  }

  // What the tags of a repository name; nullopt when one of them cannot be read.
  std::optional<std::map<std::string, Digest>> named_by_tags(const std::string& repository) {
    std::map<std::string, Digest> named;
    for (const std::string& tag : setup_.client.tags(repository).value_or(std::vector<std::string>())) {
      try {
        if (auto digest = setup_.client.resolve(repository, tag)) named.emplace(tag, *digest);
      } catch (const BrokenTag&) {
        found_.notes.push_back(
            fmt::format("{}/{}: nothing goes there: the registry cannot read its tag {}; `kiln publish` "
                        "writes one of ours again",
                        address_.host, repository, tag));
        return std::nullopt;
      }
    }
    return named;
  }

  void look(const std::string& repository, Candidates& candidates) {
    const auto named = named_by_tags(repository);
    if (!named) return;
    find_dead_tags(*named, candidates);
    std::set<Digest>& kept = found_.kept[repository];
    for (const auto& [tag, digest] : *named)
      if (!dead_tags_.contains(tag)) keep(repository, digest, !hangs_on_an_image(tag), kept);
    std::size_t held = 0;
    for (RegistryImage& index : candidates.indexes)
      if (!kept.contains(index.digest)) found_.indexes.push_back(std::move(index));
    for (RegistryImage& image : candidates.images) {
      if (kept.contains(image.digest)) {
        ++held;
        continue;
      }
      if (const std::string tag = referrers_tag(image.digest); named->contains(tag))
        image.referrers_tag = tag;
      if (const std::string tag = signatures_tag(image.digest); named->contains(tag))
        image.signatures_tag = tag;
      found_.images.push_back(std::move(image));
    }
    if (held > 0)
      found_.notes.push_back(fmt::format("{}/{}: {} without a use here {}: tags that stay name {}",
                                         address_.host, repository, counted(held, "image"),
                                         held == 1 ? "stays" : "stay", held == 1 ? "it" : "them"));
  }

  // Ours that nobody needs, and that name what we have moved them to; and what hangs on an image that goes.
  void find_dead_tags(const std::map<std::string, Digest>& named, const Candidates& candidates) {
    dead_tags_.clear();
    auto add = [&](const RegistryTag& tag) {
      auto there = named.find(tag.tag);
      if (there == named.end() || there->second != tag.digest) return false;
      if (dead_tags_.insert(tag.tag).second) found_.tags.push_back(tag);
      return true;
    };
    for (const RegistryTag& tag : candidates.tags)
      if (!add(tag)) found_.forgotten.push_back(tag.name);
    for (const RegistryImage& image : candidates.images) {
      const std::string& tag = image.record.immutable_tag;
      const std::string name = fmt::format("{}/{}:{}", address_.host, image.repository, tag);
      if (!tag.empty() && !names_.contains(name)) add({name, image.repository, tag, image.digest});
      dead_tags_.insert(referrers_tag(image.digest));
      dead_tags_.insert(signatures_tag(image.digest));
    }
  }

  // An image index keeps what it is made of.
  void keep(const std::string& repository, const Digest& digest, bool with_parts, std::set<Digest>& kept) {
    if (!kept.insert(digest).second || !with_parts) return;
    const auto ours = setup_.pushed.image(fmt::format("{}/{}@{}", address_.host, repository, digest.text()));
    if (ours && !ours->is_index) return;
    const auto manifest = setup_.client.manifest(repository, digest.text());
    if (!manifest) return;
    for (const Digest& part : parts_of_index(manifest->bytes)) keep(repository, part, true, kept);
  }

  const RegistrySetup& setup_;
  const RegistryAddress& address_;
  std::set<std::string> names_;  // of tags that stay
  std::map<std::string, Candidates> repositories_;
  std::set<std::string> dead_tags_;  // of the repository that is looked at: they keep nothing
  RegistryGarbage found_;
};

using Deletion = RegistryClient::Deletion;

struct NothingMayGo : std::exception {};  // the registry refuses to delete manifests

class RegistryCollector {
 public:
  RegistryCollector(const RegistryGarbage& garbage, RegistryClient& client, PushedNames& pushed)
      : garbage_(garbage), client_(client), pushed_(pushed) {}

  void remove_tag(const RegistryTag& tag) {
    if (!tags_can_go_) return;
    need_no_interruption();
    if (client_.delete_manifest(tag.repository, tag.tag) == Deletion::unsupported)
      tags_can_go_ = false;  // it goes with what it names, where that goes
    else
      forget(tag);
  }

  // By their digests alone: where tags do not go by themselves, they go so.
  void remove(const RegistryImage& image) {
    need_no_interruption();
    const PushedRecord before = image.record;
    PushedRecord going = before;
    going.going = true;
    if (!before.going) pushed_.put_image(image.name, going);
    try {
      if (!image.record.is_index) remove_what_goes_with(image);
      remove_manifest(image.repository, image.digest);
    } catch (const NothingMayGo&) {
      if (!touched_ && !before.going) pushed_.put_image(image.name, before);
      throw;
    }
    for (const RegistryTag& tag : garbage_.tags)
      if (tag.repository == image.repository && tag.digest == image.digest) forget(tag);
    pushed_.forget(image.name);
  }

  std::size_t tags_left() const { return garbage_.tags.size() - tags_gone_.size(); }

 private:
  void forget(const RegistryTag& tag) {
    if (tags_gone_.insert(tag.name).second && pushed_.tag(tag.name)) pushed_.forget(tag.name);
  }

  static void need_no_interruption() {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
  }

  void remove_what_goes_with(const RegistryImage& image) {
    if (!image.referrers_tag.empty()) remove_list(image);
    if (!image.signatures_tag.empty()) remove_signatures(image);
    for (const Digest& referrer : image.record.referrers) remove_manifest(image.repository, referrer);
  }

  // What others have listed there stays.
  void remove_list(const RegistryImage& image) {
    const auto list = client_.manifest(image.repository, image.referrers_tag);
    if (!list) return;
    const auto less = without_referrers(list->bytes, image.record.referrers);
    if (!less)
      remove_manifest(image.repository, list->digest);
    else if (*less != list->bytes)
      client_.put_manifest(image.repository, image.referrers_tag, list->media_type, *less);
  }

  // With signatures of others beside ours it stays.
  void remove_signatures(const RegistryImage& image) {
    const auto signatures = client_.manifest(image.repository, image.signatures_tag);
    if (!signatures) return;
    const std::string claim = signed_claim(
        fmt::format("{}/{}:{}", client_.address().host, image.repository, image.record.immutable_tag),
        image.digest);
    if (has_no_claim_but(signatures->bytes, claim)) remove_manifest(image.repository, signatures->digest);
  }

  void remove_manifest(const std::string& repository, const Digest& digest) {
    auto kept = garbage_.kept.find(repository);
    const bool is_ours_alone = kept == garbage_.kept.end() || !kept->second.contains(digest);
    if (!is_ours_alone) return;
    if (client_.delete_manifest(repository, digest.text()) == Deletion::unsupported) throw NothingMayGo{};
    touched_ = true;
  }

  const RegistryGarbage& garbage_;
  RegistryClient& client_;
  PushedNames& pushed_;
  std::set<std::string> tags_gone_;
  bool tags_can_go_ = true;
  bool touched_ = false;
};

}  // namespace

std::vector<Garbage> RegistryGarbage::listed() const {
  std::vector<Garbage> list;
  for (const RegistryTag& tag : tags)
    list.push_back({GarbageKind::pushed_tag, tag.name, "no image that stays has this name"});
  for (const RegistryImage& index : indexes)
    list.push_back({GarbageKind::pushed_index, index.name, "no name of the site refers to it"});
  for (const RegistryImage& image : images)
    list.push_back({GarbageKind::pushed_image, image.name, kUnneeded});
  return list;
}

RegistryGarbage registry_garbage(const RegistrySetup& setup) { return RegistrySurveyor(setup).find(); }

std::size_t unneeded_images(const RegistryAddress& address, const PushedNames& pushed, const Roots& roots) {
  return static_cast<std::size_t>(
      std::count_if(pushed.images().begin(), pushed.images().end(), [&](const auto& image) {
        return !image.second.is_index && image.first.starts_with(below(address)) &&
               is_dead(image.first, roots);
      }));
}

RegistryCollected collect_registry(const RegistryGarbage& garbage, RegistryClient& client,
                                   PushedNames& pushed) {
  for (const std::string& name : garbage.forgotten) pushed.forget(name);
  RegistryCollector collector(garbage, client, pushed);
  try {
    for (const RegistryTag& tag : garbage.tags) collector.remove_tag(tag);
    for (const RegistryImage& index : garbage.indexes) collector.remove(index);
    for (const RegistryImage& image : garbage.images) collector.remove(image);
  } catch (const NothingMayGo&) {
    return {true, collector.tags_left()};
  }
  return {false, collector.tags_left()};
}

}  // namespace kiln
