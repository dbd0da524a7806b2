// Finds the entries that a plan needs from a lockfile, finds the missing ones, and makes a new lockfile from
// the old one. Pure: LockSources asks the registries, archives and repositories.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/recipe/lockfile.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// A component, version and method of images of the plan: in the image, or in a build stage.
struct LockNeed {
  const Recipe* component = nullptr;
  const ComponentVersion* version = nullptr;
  const Method* method = nullptr;
  std::string image;                         // bases that are pulled, as the recipe has it
  std::map<std::string, Step> base_steps{};  // of a base: by architecture
};

using LockNeeds = std::map<std::string, LockNeed>;  // by lock_id

// The needs of the images, without their applications. REQUIRES: the resolution was made of these recipes,
// which outlive the needs.
LockNeeds lock_needs(const Resolution& resolution, const RecipeBook& recipes);

// Something that the plan needs and the lockfile does not have, or has otherwise.
struct LockGap {
  SourceLocation where;  // in the recipe
  std::string what;
};

// The bases that change from night to night without a lockfile: ids of those whose image or package archive
// is not pinned.
std::vector<std::string> floating_needs(const LockNeeds& needs);

using RecipeDigest = std::function<Digest(const Recipe&)>;  // of recipe.json and its files

// In the order of the entries. `archspec` is the version in use. Entries that nothing needs are no gap. With
// `recipe`, one that is not as it was locked is one, once a component.
std::vector<LockGap> lock_gaps(const LockNeeds& needs, const Lockfile& lock, const std::string& archspec,
                               const RecipeDigest& recipe = {});

// Where new entries come from. Their errors pass through: Error(network) for an unreachable source.
struct LockSources {
  // The digest of the manifest that `reference` names today for an architecture.
  std::function<Digest(const std::string& reference, const std::string& architecture)> digest;
  // The output of the recipe's `archive` script.
  std::function<std::string(const LockNeed&, const std::string& architecture)> archive;
  RecipeDigest recipe;
  std::string archspec;
  // The branch or tag of upstream whose history has a commit; "" when none has it.
  std::function<std::string(const std::string& url, const std::string& commit)> ref_of;
  // Whether the bits of a base are there, so that no archive is needed for it. Empty: they are.
  std::function<bool(const Step& base)> built{};
  std::int64_t now = 0;  // Unix seconds: the date of what is pinned or moves; 0: it gets none
};

// The lockfile of a plan. With `previous`, its pins that still fit stay; entries without a need are removed.
// Throws Error(input) at a commit that is not upstream's.
Lockfile make_lock(const LockNeeds& needs, const Lockfile* previous, const LockSources& sources);

// `previous` with only those entries made anew that one of `names` means: a component (`pytorch`,
// `base/ubuntu`), an entry, an image reference, or "archspec"; globs are allowed. Throws Error(no_match) for
// a name that means nothing.
Lockfile update_lock(const LockNeeds& needs, const Lockfile& previous, const std::vector<std::string>& names,
                     const LockSources& sources);

}  // namespace kiln
