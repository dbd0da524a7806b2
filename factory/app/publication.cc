#include "factory/app/publication.h"

namespace kiln {

ExitCode exit_code_of(const RegistryNews& news) {
  if (!news.lost.empty()) return ExitCode::network;
  if (!news.foreign.empty()) return ExitCode::locked;
  return news.unclear.empty() ? ExitCode::ok : ExitCode::input;
}

PublishDestination chosen_place(PublishDestination of_site, const PublishDestination& asked) {
  if (!asked.registry.empty()) of_site.registry = asked.registry;
  if (asked.key.empty()) return of_site;
  of_site.key = asked.key;
  of_site.passphrase_file = asked.passphrase_file;
  return of_site;
}

bool prunes_many(const LackingImages& lacking) {
  return 100 * lacking.names.size() > kMostPruned * lacking.published;
}

NamesByRegistry names_by_registry(const std::vector<IndexEntry>& entries) {
  NamesByRegistry names;
  for (const IndexEntry& entry : entries)
    if (!entry.image.published.registry.empty())
      names[entry.image.published.registry].insert(entry.image.name());
  return names;
}

FollowingTags following_tags(const NamesByRegistry& before, const NamesByRegistry& now,
                             const std::string& followed) {
  FollowingTags tags;
  for (const auto& [registry, images] : now)
    if (registry != followed) tags.others.emplace(registry, images.size());
  tags.move = before.contains(followed) || now.contains(followed);
  if (!tags.move || !before.contains(followed)) return tags;
  tags.newer.assign(before.at(followed).begin(), before.at(followed).end());
  if (const auto there = now.find(followed); there != now.end())
    std::erase_if(tags.newer, [&](const std::string& name) { return there->second.contains(name); });
  return tags;
}

}  // namespace kiln
