// Where a publication goes, what it takes out, which tags of a registry follow the index, and how it ends.
// Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/error.h"
#include "factory/run/publish.h"
#include "factory/site/site.h"
#include "registry/index/index.h"

namespace kiln {

// What happened in a registry.
struct RegistryNews {
  std::string pushed{};                // in words; "" = nowhere
  std::vector<std::string> foreign{};  // "TAG: why": tags that were left unchanged
  std::vector<std::string> unclear{};  // "NAME: why": aliases of the site that were left unchanged
  std::vector<std::string> mended{};   // "WHERE: what": the registry had lost it, and it was pushed again
  std::vector<std::string> lost{};     // "WHERE: what": the registry lacks it still
};

// network if a part is lost, else locked for a tag that another program moved, else input for an alias that
// is unclear; ok without any of these.
ExitCode exit_code_of(const RegistryNews& news);
// Error with exit_code_of() these; nullopt: ok.
std::optional<Error> trouble_of(const RegistryNews& news);

// The registry to which the site file publishes images; empty if the file names none. Throws Error(input)
// with the place of an invalid registry or of an alias's invalid pattern.
PublishDestination site_place(const Site& site);

// `asked`: a registry, and a key with its passphrase; each that is set replaces that of the site file.
PublishDestination chosen_place(PublishDestination of_site, const PublishDestination& asked);

// Per cent of the images of a matrix that a publication takes out of the index without --yes.
inline constexpr std::size_t kMostPruned = 20;
bool prunes_many(const LackingImages& lacking);  // more than that
// Throws Error(usage) for a publication of the matrix that prunes many.
void refuse_many(const LackingImages& lacking, const std::string& matrix);

// The options of a publication on the command line.
struct PublishWishes {
  PublishDestination place;  // --to, --sign-key
  bool local = false;
  bool take_tags = false;
  bool prune = false;
  bool yes = false;
  bool every_cell = true;  // of the matrix
};
// Throws Error(usage) for a prune of chosen cells, and for a yes without a prune.
void check_pruning(const PublishWishes& wishes);
// Throws Error(usage) for an option that needs a registry, without one. REQUIRES: not `local`.
PublishDestination publish_place(const PublishDestination& of_site, const PublishWishes& wishes);

// Reason why kiln cannot know the images that a matrix lacks: a damaged derived image, or a broken cell.
// nullopt: kiln can know them.
std::optional<Error> why_lacking_unknown(const BuildPlan& plan,
                                         const std::vector<Error>& damaged_derivations);

// Names of images by the registry that has them; images that were never pushed are left out.
using NamesByRegistry = std::map<std::string, std::set<std::string>>;
NamesByRegistry names_by_registry(const std::vector<IndexEntry>& entries);

// What becomes of the tags of registries when the index goes from one snapshot to another.
struct FollowingTags {
  bool move = false;                          // those of the followed registry
  std::map<std::string, std::size_t> others;  // registries whose tags stay: how many images each has now
  std::vector<std::string> newer;  // names in the followed registry that the new snapshot does not have
};
// `followed`: as in NamesByRegistry; "" = no registry follows.
FollowingTags following_tags(const NamesByRegistry& before, const NamesByRegistry& now,
                             const std::string& followed);

}  // namespace kiln
