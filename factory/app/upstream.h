// Asks package indexes and repositories for newer versions of the components of a plan. UpstreamSources makes
// the requests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/distribution/package_index.h"
#include "factory/plan/lock_update.h"
#include "factory/plan/proposals.h"

namespace kiln {

// An upstream that did not answer, or that answered with something other than versions.
struct UpstreamProblem {
  std::string component;  // "framework/pytorch"
  Error why;
};

struct UpstreamNews {
  Proposals proposals;
  std::vector<UpstreamProblem> problems;
};

// {"proposals": […], "waiting": […], "problems": [{"component", "error"}]}
Json to_json(const UpstreamNews& news);

struct UpstreamSources {
  // Of the package index. Throws Error(no_match) for a package that it does not have. After any other error
  // it is not asked again.
  std::function<PackageReleases(const std::string& package)> releases;
  // Commits by tag. Throws Error(network).
  std::function<std::map<std::string, std::string>(const std::string& repository)> tags;
};

// Of the components in `needs`, at most `most` proposals are shown. Upstreams of recipes that are broken
// today keep their place in `memory`. Throws Error(interrupted) alone: other errors are among the problems.
UpstreamNews newer_upstream(const RecipeBook& recipes, const LockNeeds& needs, const ProposalMemory& memory,
                            int most, std::int64_t now, const UpstreamSources& sources);

}  // namespace kiln
