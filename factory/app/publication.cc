#include "factory/app/publication.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/distribution/registry_client.h"
#include "registry/index/image_patterns.h"

namespace kiln {
namespace {

// What can be known of them before anything is asked.
void check_aliases(const Site& site) {
  for (std::size_t i = 0; i < site.publish.aliases.size(); ++i) {
    try {
      const ImagePatterns patterns(site.publish.aliases[i].images);
    } catch (const Error& error) {
      throw Error(ExitCode::input, {site.file, 0, 0, fmt::format("/publish/aliases/{}/images", i)},
                  error.message(), error.hint());
    }
  }
}

}  // namespace

ExitCode exit_code_of(const RegistryNews& news) {
  if (!news.lost.empty()) return ExitCode::network;
  if (!news.foreign.empty()) return ExitCode::locked;
  return news.unclear.empty() ? ExitCode::ok : ExitCode::input;
}

std::optional<Error> trouble_of(const RegistryNews& news) {
  const ExitCode code = exit_code_of(news);
  if (code == ExitCode::network)
    return Error(
        code,
        fmt::format("the registry lacks {} that the index answers with", counted(news.lost.size(), "part")),
        "`kiln build` makes again what the store lacks as well; `kiln index fsck --registry --repair` "
        "pushes it");
  if (code == ExitCode::locked)
    return Error(code,
                 news.foreign.size() == 1 ? "a tag was moved by another program, and left as it is"
                                          : "tags were moved by another program, and left as they are",
                 "--take-tags moves them to the images of the index");
  const bool is_one = news.unclear.size() == 1;
  if (code == ExitCode::input)
    return Error(code,
                 fmt::format("{} of the site file {} not clear, and left as {}",
                             counted(news.unclear.size(), "alias", "aliases"), is_one ? "is" : "are",
                             is_one ? "it is" : "they are"),
                 "patterns that choose one image a platform, and names that no image has");
  return std::nullopt;
}

PublishDestination site_place(const Site& site) {
  if (site.publish.registry.empty()) return site.publish;
  try {
    RegistryAddress::parse(site.publish.registry);
  } catch (const Error& error) {
    throw Error(ExitCode::input, {site.file, 0, 0, "/publish/registry"}, error.message(), error.hint());
  }
  check_aliases(site);
  return site.publish;
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

void refuse_many(const LackingImages& lacking, const std::string& matrix) {
  if (!prunes_many(lacking)) return;
  throw Error(ExitCode::usage,
              fmt::format("--prune would take out {} of the {} that {} has in the index",
                          lacking.names.size(), counted(lacking.published, "image"), matrix),
              fmt::format("look at them with -n; --yes takes out more than {} %", kMostPruned));
}

void check_pruning(const PublishWishes& wishes) {
  if (wishes.prune && !wishes.every_cell)
    throw Error(ExitCode::usage, "--prune goes with the whole matrix, and cells are chosen",
                "leave the patterns out: kiln would take away all that they do not choose");
  if (wishes.yes && !wishes.prune)
    throw Error(ExitCode::usage, "--yes goes with --prune", "nothing else asks");
}

PublishDestination publish_place(const PublishDestination& of_site, const PublishWishes& wishes) {
  PublishDestination place = chosen_place(of_site, wishes.place);
  if (!place.registry.empty()) return place;
  constexpr const char* kHint = "or with \"publish\" in the site file";
  if (!wishes.place.key.empty()) throw Error(ExitCode::usage, "--sign-key goes with --to", kHint);
  if (wishes.take_tags) throw Error(ExitCode::usage, "--take-tags goes with --to", kHint);
  return place;
}

std::optional<Error> why_lacking_unknown(const BuildPlan& plan,
                                         const std::vector<Error>& damaged_derivations) {
  const std::string what = fmt::format("looking for the missing parts of {}", plan.name());
  if (!damaged_derivations.empty()) return Error(damaged_derivations.front()).while_doing(what);
  if (plan.broken() == 0) return std::nullopt;
  BrokenCell cell = plan.broken(0);
  return cell.why.while_doing(
      fmt::format("{}: {} is broken, and its name is unknown", what, cell.request.id));
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
