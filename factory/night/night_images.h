// The result of every image of a plan in this night, from the build's report, the state folder and the night
// before.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/night/night.h"
#include "factory/plan/build_plan.h"
#include "factory/run/build.h"
#include "factory/site/site.h"
#include "registry/index/index.h"

namespace kiln {

// The result of an image, compared with the night before: a verdict, and words that say who must act. Pure.

// A failure that may pass has an actor from the third night in a row on.
inline constexpr std::int64_t kNightsOfPatience = 2;

// `outcome` → verdict. `before`: the image's cell in the last night that looked at it; null: in none.
Verdict verdict_of(const ImageOutcome& outcome, const NightImage* before);

// Sets actor, advice and failing_since. `night`: this one's number.
void judge(NightImage& image, const NightImage* before, std::int64_t night);

// The jobs that have to be green before a snapshot moves (Nix channels advance like this). Pure.

// A gate of the site file with the cells that it is about.
struct GateCells {
  std::string name;
  std::vector<std::string> cells;  // ids
};

// Throws Error(no_match) for a gate that chooses no cell, because it would always be open, and Error(usage)
// for an invalid pattern.
std::vector<GateCells> find_gates(const std::vector<GateRule>& rules, const BuildPlan& plan);

// The cells that keep each gate closed. no_machine counts as green: another machine's night is responsible
// for it.
std::vector<GateJob> look_at_gates(const std::vector<GateCells>& gates,
                                   const std::vector<NightImage>& images);
bool is_open(const std::vector<GateJob>& jobs);

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
