// Fetches commits into a mirror: each repository is a bare one with no history but the needed commits.
// Repositories of its submodules are next to it. A commit's name covers all that it has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/mirror/mirror_folder.h"
#include "factory/site/site.h"

namespace kiln {

// `link` of .gitmodules as git resolves it against the URL of the repository (gitmodules(5): "./" and "../").
std::string submodule_url(const std::string& repository, const std::string& link);
// git/<name>-<12 hex>.git
std::string repository_path(const std::string& url);

class CommitFetcher {
 public:
  // `environment`: of git, with the site's configuration. REQUIRES: `runner` and `folder` outlive this.
  CommitFetcher(CommandRunner& runner, std::map<std::string, std::string> environment,
                const PullLimits& limits, const MirrorFolder& folder);

  // The commit and those of its submodules, at any depth. Throws Error(network), Error(input) for
  // more than a thousand of them, Error(interrupted).
  std::vector<MirrorItem> fetch(const std::string& url, const std::string& commit);
  std::size_t fetched() const { return fetched_; }

 private:
  CommandResult git(std::vector<std::string> words, bool remote);
  std::string must(std::vector<std::string> words, const std::string& action, bool remote = false);
  std::set<std::string> take_apart(const std::string& repository);
  void fetch_one(const std::string& url, const std::string& commit, const std::string& repository);
  std::vector<std::pair<std::string, std::string>> submodules(const std::string& url,
                                                              const std::string& commit,
                                                              const std::string& repository);

  CommandRunner& runner_;
  std::map<std::string, std::string> environment_;
  CommandLimits limits_;
  const MirrorFolder& folder_;
  std::size_t fetched_ = 0;
};

}  // namespace kiln
