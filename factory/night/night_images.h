// What became of every image of a plan in this night: from what the build says, what the state folder keeps,
// and the night before.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/night/night.h"
#include "factory/plan/build_plan.h"
#include "factory/run/build.h"
#include "factory/state/state_names.h"
#include "registry/index/index.h"

namespace kiln {

struct NightView {
  const BuildPlan& plan;
  const StatePaths& state;
  const FileSystem& files;
  const Index* index = nullptr;         // null: nothing was published
  const NightReport* before = nullptr;  // the last night that has a report; null: this is the first
  std::int64_t number = 0;              // of this night
  std::int64_t started = 0;
  // By cell: why it had to be built, as `kiln plan --explain` says it.
  std::map<std::string, std::vector<std::string>> why{};
  // Cells that the budget had no time for.
  std::set<std::string> no_time{};
};

// All cells of the plan, the broken ones at the end. REQUIRES: each image that the build was about is in its
// report; the others were not reached.
std::vector<NightImage> night_images(const NightView& view, const BuildReport& build);

}  // namespace kiln
