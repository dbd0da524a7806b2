#include "factory/plan/lock_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/oci/reference.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/parameters.h"

namespace kiln {
namespace {

// "recipes/x/recipe.json:4:5", or as much of it as is known.
class GapFinder {
 public:
  GapFinder(const Lockfile& lock, const RecipeDigest& recipe) : lock_(&lock), recipe_(&recipe) {}

  void check(const std::string& id, const LockNeed& need) {
    auto entry = lock_->entries.find(id);
    if (entry == lock_->entries.end())
      return add(need.version->where, fmt::format("{} is not in {}", id, lock_->file));
    check_image(id, need, entry->second);
    check_source(id, need, entry->second);
    if (*recipe_) check_recipe(*need.component, entry->second);
  }

  void check_archspec(const std::string& archspec) {
    if (lock_->archspec != archspec)
      add(lock_->archspec_where, fmt::format("flags come from archspec {}, the lockfile was made with {}",
                                             archspec, lock_->archspec));
  }

  std::vector<LockGap> result() { return std::move(gaps_); }

 private:
  void check_image(const std::string& id, const LockNeed& need, const LockEntry& entry) {
    if (need.image != entry.image)
      return add(need.method->where, fmt::format("{} has the image '{}', and '{}' in {}", id, need.image,
                                                 entry.image, entry.where.text()));
    bool pinned = !need.image.empty() && is_in_registry(need.image);
    for (const auto& [architecture, step] : need.base_steps) {
      if (pinned && !entry.digests.contains(architecture))
        add(need.method->where,
            fmt::format("{} has no digest for {} in {}", id, architecture, entry.where.text()));
      if (!need.method->archive.empty() && !entry.archives.contains(architecture))
        add(need.method->where,
            fmt::format("{} has no archive for {} in {}", id, architecture, entry.where.text()));
    }
  }

  void check_source(const std::string& id, const LockNeed& need, const LockEntry& entry) {
    const ComponentVersion& version = *need.version;
    if (version.source_url == entry.source_url && version.source_checksum == entry.source_checksum) return;
    auto source = [](const std::string& url, const std::string& checksum) {
      return url.empty() ? "none" : fmt::format("{} ({})", url, checksum);
    };
    add(version.where, fmt::format("the source of {} is {}, and {} in {}", id,
                                   source(version.source_url, version.source_checksum),
                                   source(entry.source_url, entry.source_checksum), entry.where.text()));
  }

  // Every entry of a component has the same digest: the first speaks for all.
  void check_recipe(const Recipe& recipe, const LockEntry& entry) {
    const Digest now = (*recipe_)(recipe);
    if (now == entry.recipe || !changed_.insert(recipe.file).second) return;
    add({recipe.file, 0, 0, ""},
        fmt::format("this recipe, or a file that it names, is not as it was locked: digest {} → {}",
                    entry.recipe.hex().substr(0, 12), now.hex().substr(0, 12)));
  }

  void add(SourceLocation where, std::string what) { gaps_.push_back({std::move(where), std::move(what)}); }

  const Lockfile* lock_;
  const RecipeDigest* recipe_;
  std::set<std::string> changed_;  // recipes
  std::vector<LockGap> gaps_;
};

constexpr std::string_view kCommit = "git:";

// Where upstream has the commit that the recipe pins.
std::string source_ref(const LockNeed& need, const LockEntry* keep, const LockSources& sources) {
  const ComponentVersion& version = *need.version;
  if (!version.source_checksum.starts_with(kCommit) || !reads_source(*need.method)) return "";
  if (keep != nullptr && keep->source_url == version.source_url &&
      keep->source_checksum == version.source_checksum && !keep->source_ref.empty())
    return keep->source_ref;
  const std::string commit = version.source_checksum.substr(kCommit.size());
  std::string ref = sources.ref_of(version.source_url, commit);
  if (ref.empty())
    throw Error(ExitCode::input, version.where,
                fmt::format("no branch and no tag of {} has the commit {}", version.source_url, commit),
                "it may be a fork's, which GitHub serves by its digest, too: take one of upstream's history");
  return ref;
}

// `keep`: the entry whose digests and archives stay where they still fit; null to ask for all of them.
LockEntry make_entry(const LockNeed& need, const LockEntry* keep, const LockSources& sources) {
  LockEntry entry;
  entry.kind = need.component->kind;
  entry.name = need.component->name;
  entry.version = need.version->version;
  entry.method = need.method->name;
  entry.image = need.image;
  entry.source_url = need.version->source_url;
  entry.source_checksum = need.version->source_checksum;
  entry.source_ref = source_ref(need, keep, sources);
  entry.recipe = sources.recipe(*need.component);
  for (const auto& [architecture, step] : need.base_steps) {
    if (!need.image.empty() && is_in_registry(need.image)) {
      bool kept = keep != nullptr && keep->image == need.image && keep->digests.contains(architecture);
      entry.digests[architecture] =
          kept ? keep->digests.at(architecture) : sources.digest(need.image, architecture);
    } else if (!need.image.empty()) {
      entry.floating = "an image on this machine's disk";
    } else if (need.method->archive.empty()) {
      entry.floating = fmt::format("made by {} on the build host", need.method->rootfs);
    } else {
      bool kept = keep != nullptr && keep->archives.contains(architecture);
      entry.archives[architecture] =
          kept ? keep->archives.at(architecture) : sources.archive(need, architecture);
    }
  }
  return entry;
}

// Whether what both have is the same, and there is such a thing: one architecture more or less is no move.
template <typename Pin>
bool pins_stay(const std::map<std::string, Pin>& before, const std::map<std::string, Pin>& now) {
  bool common = false;
  for (const auto& [architecture, pin] : now) {
    auto old = before.find(architecture);
    if (old == before.end()) continue;
    if (old->second != pin) return false;
    common = true;
  }
  return common;
}

// When the pins of each entry moved last: where they did not, as before.
void date_pins(Lockfile& lock, const Lockfile* previous, std::int64_t now) {
  for (auto& [id, entry] : lock.entries) {
    entry.since.clear();
    if (entry.digests.empty() && entry.archives.empty()) continue;
    const LockEntry* old = nullptr;
    if (previous != nullptr)
      if (auto found = previous->entries.find(id); found != previous->entries.end()) old = &found->second;
    const bool stays = old != nullptr && old->image == entry.image &&
                       (pins_stay(old->digests, entry.digests) || pins_stay(old->archives, entry.archives));
    if (stays)
      entry.since = old->since;
    else if (now != 0)
      entry.since = rfc3339(now);
  }
}

// What a user may call an entry.
std::vector<std::string> names_of(const std::string& id, Kind kind, const std::string& name,
                                  const std::string& image) {
  std::vector<std::string> names = {name, path_of(kind, name), id, id.substr(0, id.rfind(':'))};
  if (!image.empty()) names.push_back(image);
  return names;
}

// Every entry that the plan needs or the lockfile has, with its names.
std::map<std::string, std::vector<std::string>> named_entries(const LockNeeds& needs, const Lockfile& lock) {
  std::map<std::string, std::vector<std::string>> named;
  for (const auto& [id, entry] : lock.entries) named[id] = names_of(id, entry.kind, entry.name, entry.image);
  for (const auto& [id, need] : needs)
    named[id] = names_of(id, need.component->kind, need.component->name, need.image);
  named["archspec"] = {"archspec"};
  return named;
}

std::set<std::string> chosen_entries(const LockNeeds& needs, const Lockfile& lock,
                                     const std::vector<std::string>& names) {
  auto named = named_entries(needs, lock);
  std::set<std::string> chosen;
  for (const std::string& wanted : names) {
    std::size_t before = chosen.size();
    bool any = false;
    for (const auto& [id, own] : named) {
      if (std::ranges::none_of(own, [&](const auto& name) { return glob_matches(wanted, name); })) continue;
      any = true;
      chosen.insert(id);
    }
    if (any || chosen.size() > before) continue;
    std::vector<std::string> known;
    for (const auto& [id, own] : named) known.insert(known.end(), own.begin(), own.end());
    throw Error(ExitCode::no_match, fmt::format("nothing that is locked is called '{}'", wanted),
                did_you_mean(wanted, known));
  }
  return chosen;
}

// What the images of a plan need, one after the other. Applications come from the state folder, or from a
// site's own recipes: their files are in keys, and nothing of theirs moves.
class NeedCollector {
 public:
  NeedCollector(const RecipeBook& recipes, const StepTable& steps)
      : recipes_(&recipes), steps_(&steps), seen_(steps.size(), 0) {}

  void add(const ResolvedImage& image) {
    for (const ComponentUse& use : image.components())
      if (use.kind != Kind::application) add(use.kind, use.name, use.version.text(), use.method);
    for (StepTable::Number step : image.steps()) {
      if (seen_[step] != 0) continue;
      seen_[step] = 1;
      add_step(step, image.architecture());
    }
  }
  LockNeeds result() { return std::move(needs_); }

 private:
  LockNeed& add(Kind kind, const std::string& name, const std::string& version, const std::string& method) {
    auto [found, added] = needs_.try_emplace(lock_id(kind, name, version, method));
    if (!added) return found->second;
    const Recipe* recipe = recipes_->find(kind, name);
    LockNeed need;
    need.component = recipe;
    need.version = recipe == nullptr ? nullptr : recipe->find_version(Version(version));
    need.method = recipe == nullptr ? nullptr : recipe->find_method(method);
    if (need.version == nullptr || need.method == nullptr)
      throw Error(ExitCode::input,
                  fmt::format("the plan has {}, which is not among the recipes", found->first));
    need.image = base_reference(*need.method, need.version->version);
    return found->second = std::move(need);
  }

  void add_step(StepTable::Number number, const std::string& architecture) {
    const Step& step = steps_->pattern(number);
    const std::size_t slash = step.component.find('/');
    const Kind kind = *kind_from(step.component.substr(0, slash));
    if (kind == Kind::application) return;
    LockNeed& need = add(kind, step.component.substr(slash + 1), step.version, step.method);
    if (steps_->parent(number) == StepTable::kNone)
      need.base_steps.try_emplace(architecture, steps_->step(number));
  }

  const RecipeBook* recipes_;
  const StepTable* steps_;
  std::vector<char> seen_;
  LockNeeds needs_;
};

}  // namespace

LockNeeds lock_needs(const Resolution& resolution, const RecipeBook& recipes) {
  NeedCollector collector(recipes, resolution.steps());
  for (std::size_t number = 0; number < resolution.size(); ++number) collector.add(resolution.image(number));
  return collector.result();
}

std::vector<std::string> floating_needs(const LockNeeds& needs) {
  std::vector<std::string> floating;
  for (const auto& [id, need] : needs) {
    const bool is_pulled =
        !need.image.empty() && is_in_registry(need.image) && need.image.find("@sha256:") == std::string::npos;
    if (is_pulled || !need.method->archive.empty()) floating.push_back(id);
  }
  return floating;
}

std::vector<LockGap> lock_gaps(const LockNeeds& needs, const Lockfile& lock, const std::string& archspec,
                               const RecipeDigest& recipe) {
  GapFinder finder(lock, recipe);
  for (const auto& [id, need] : needs) finder.check(id, need);
  finder.check_archspec(archspec);
  return finder.result();
}

Lockfile make_lock(const LockNeeds& needs, const Lockfile* previous, const LockSources& sources) {
  Lockfile lock;
  lock.archspec = sources.archspec;
  for (const auto& [id, need] : needs) {
    const LockEntry* keep = nullptr;
    if (previous != nullptr)
      if (auto found = previous->entries.find(id); found != previous->entries.end()) keep = &found->second;
    lock.entries.emplace(id, make_entry(need, keep, sources));
  }
  date_pins(lock, previous, sources.now);
  return lock;
}

Lockfile update_lock(const LockNeeds& needs, const Lockfile& previous, const std::vector<std::string>& names,
                     const LockSources& sources) {
  Lockfile lock = previous;
  for (const std::string& id : chosen_entries(needs, previous, names)) {
    if (id == "archspec") {
      lock.archspec = sources.archspec;
      continue;
    }
    lock.entries.erase(id);
    if (auto need = needs.find(id); need != needs.end())
      lock.entries.emplace(id, make_entry(need->second, nullptr, sources));
  }
  date_pins(lock, &previous, sources.now);
  return lock;
}

}  // namespace kiln
