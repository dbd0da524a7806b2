#include "factory/collect/registry_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "factory/base/effects.h"
#include "factory/distribution/push.h"
#include "factory/distribution/referrers_index.h"
#include "factory/distribution/signature.h"

namespace kiln {
namespace {

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
