#include "factory/run/site_aliases.h"

#include <fmt/format.h>

#include <map>

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

}  // namespace

ChosenAliases choose_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
                             const std::string& registry, const BlobStore& store) {
  AliasChooser chooser(entries, registry, store);
  for (const SiteAlias& alias : aliases) chooser.choose(alias);
  return chooser.chosen();
}

}  // namespace kiln
