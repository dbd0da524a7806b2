// Caches of compilers and of downloads that earlier scripts of a recipe left for a step. They are mounted
// while a script runs, are in no key and in no layer, and must not decide a bit: docs/air-gapped.md says how
// kiln ensures this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/run/step.h"
#include "factory/state/cache_folders.h"

namespace kiln {

inline constexpr const char* kCachesInside = "/run/kiln/cache";

class Caches {
 public:
  // The caches of `step` on top of `parent`, if the site has any. `folder` is private. An unavailable cache
  // is reported in the step's log and left out; scripts also work without. Throws Error(interrupted).
  Caches(const Step& step, const StepRecord& parent, const StepSetup& setup, const fs::path& folder);
  Caches(const Caches&) = delete;
  Caches& operator=(const Caches&) = delete;
  // Frees them, and keeps all of the site's within its size.
  ~Caches();

  // Mounts and variables, over what is there.
  void hand_to(ContainerRun& request) const;
  // A line of what was found again, for the log; "" where there is nothing to tell.
  std::string told() const;
  // Takes those away whose damage `tail`, the end of a failed script's output, shows. False: none.
  bool drop_damaged(std::string_view tail);

 private:
  void add(const std::string& kind);
  void note(const std::string& what) const;

  const Step& step_;
  const StepSetup& setup_;
  const fs::path statistics_;  // ccache's, of this script alone
  std::string id_;
  CacheFolders folders_;
  std::vector<CacheUse> uses_;
  std::vector<std::string> kinds_;  // those that are there
  std::vector<Mount> mounts_;
  std::map<std::string, std::string> environment_;
};

// Scripts share a cache if they are of one component and run on equal files. A poisoned base or toolchain
// therefore reaches only steps on top of it, and cached results come from the same compilers.
std::string cache_id(const Step& step, const StepRecord& parent);

}  // namespace kiln
