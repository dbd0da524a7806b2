// Newer versions of upstream, proposed for review: at most a few at a time, each in its place until a person
// takes it or says no. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

struct UpstreamRelease {
  std::string version;
  std::string date{};    // RFC 3339; "" unknown
  std::string commit{};  // of a repository's tag
};

// The releases that tags are: what '*' of the pattern stands for, where that is a version. `tags`: commits by
// name. Tags that do not match the pattern, or are no version, are left out.
std::vector<UpstreamRelease> releases_of_tags(const std::string& pattern,
                                              const std::map<std::string, std::string>& tags);

// The name of an upstream: "torch on the package index", "https://example.org/x.git".
std::string name_of(const Upstream& upstream);

struct Proposal {
  std::string component;  // "framework/pytorch"
  std::string upstream;   // name_of() it
  std::string range;      // the versions that the recipe allows
  UpstreamRelease release;
  std::string newest;           // of the recipe's own versions in that range; "" when it has none
  std::string recipe;           // file and line of its newest version there
  Json version{};               // proposed entry for the release: the newest's facts, to be checked
  std::int64_t first_seen = 0;  // Unix seconds, of the first version that was proposed in its place
  bool is_new = false;          // was not shown before
};
Json to_json(const Proposal& proposal);
// "framework/pytorch: 2.16.0 (has 2.15.0), torch on the package index, released 2026-11-20".
std::string text_of(const Proposal& proposal);

std::string file_of(const Proposal& proposal);  // of its recipe
// The line to write under "versions" of the recipe: `"2.16.0": {"facts": {"python": "3.12"}}`.
std::string line_of(const Proposal& proposal);
// The recipe's text with that line before its other versions; the rest, comments too, as it is. Throws
// Error(input) for a text that is no recipe.
std::string with_version(const std::string& recipe, const Proposal& proposal);

// The newest release that the upstream's range allows, when it is newer than every version that the recipe
// has in that range. No pre-release, unless the range names one.
std::optional<Proposal> newer_release(const Recipe& recipe, const Upstream& upstream,
                                      const std::vector<UpstreamRelease>& releases);

// The earlier proposals, in their order: an entry for each upstream of a recipe.
struct ProposalMemory {
  struct Place {
    Proposal proposal;  // without is_new
    bool shown = false;
  };
  std::vector<Place> places;  // in order
};
// Throws Error(input).
ProposalMemory read_proposals(const JsonDocument& document);
std::string proposals_text(const ProposalMemory& memory);

struct Proposals {
  std::vector<Proposal> shown;    // at most `most`: those that were seen first
  std::vector<Proposal> waiting;  // until one of those is taken
  ProposalMemory memory;          // after this
};

// `found`: what newer_release() says now; `asked`: upstreams of which an answer came, by place_of(). A place
// whose upstream did not answer stays as it was; one that has nothing newer is free, and so is one whose
// upstream is not in `known` any more.
Proposals choose_proposals(const std::vector<Proposal>& found, const std::set<std::string>& asked,
                           const std::set<std::string>& known, const ProposalMemory& memory, int most,
                           std::int64_t now);
std::string place_of(const std::string& component, const std::string& upstream, const std::string& range);

}  // namespace kiln
