// Whether a commit is upstream's: GitHub serves the commits of forks by their digest, too, as if they were
// the repository's own (they share one store of objects).
#pragma once

#include <map>
#include <string>

#include "factory/base/effects.h"
#include "factory/site/site.h"

namespace kiln {

class CommitHistory {
 public:
  // `environment`: of git; `folder`: private, holds what is fetched; `limits`: as registries are given, but
  // for its retries. REQUIRES: `runner` outlives this.
  CommitHistory(CommandRunner& runner, std::map<std::string, std::string> environment, fs::path folder,
                const PullLimits& limits = {});

  // The branch or tag of `url` whose history has the commit: "refs/tags/v1.4.0", a tag that is the commit
  // itself before others. "" when none has it. Commits are fetched without their trees, and only where no
  // branch or tag ends in this one. `url` is anything that git fetches from. Throws Error(network) when it
  // cannot be asked or is silent for too long, Error(store) for a full disk, Error(interrupted).
  std::string ref_of(const std::string& url, const std::string& commit);

  // Its tags, without "refs/tags/", and the commits that they name. Throws as ref_of.
  std::map<std::string, std::string> tags_of(const std::string& url);

 private:
  const std::map<std::string, std::string>& tips_of(const std::string& url);
  std::string git(std::vector<std::string> arguments, const std::string& action,
                  const CommandLimits& limits = {});
  std::string ref_at(const std::string& url, const std::string& commit);
  std::string ref_above(const std::string& url, const std::string& commit);

  CommandRunner& runner_;
  std::map<std::string, std::string> environment_;
  fs::path folder_;
  CommandLimits limits_;                                            // of what asks others
  std::map<std::string, fs::path> fetched_;                         // by URL
  std::map<std::string, std::map<std::string, std::string>> tips_;  // by URL: ref → commit
};

}  // namespace kiln
