// What it saves that equal steps are one. Pure: what steps took is handed in, from the records of earlier
// builds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/plan/build_plan.h"

namespace kiln {

// One run of a step; nullopt where nobody has measured it.
struct StepCost {
  std::optional<double> seconds;
  std::optional<std::uint64_t> bytes;  // of the layers it adds, compressed
};

// Sums over runs that sharing saves: a step that five images need is run once, four runs are saved.
struct Sharing {
  std::size_t steps = 0;    // different ones, tests included
  std::size_t without = 0;  // were each image to run its own
  std::size_t shared = 0;   // steps that more than one image needs
  std::size_t timed = 0;    // saved runs whose time is known
  double seconds = 0;       // of those
  std::size_t sized = 0;    // saved runs whose bytes are known
  std::uint64_t bytes = 0;  // of those
  std::size_t saved() const { return without - steps; }
};

// Of the steps that some images of the plan need. `cost` is asked for shared steps only, and for none where
// there are more than `most` of them.
Sharing sharing_of(const StepUses& uses, const StepTable& steps,
                   const std::function<StepCost(const std::string& key)>& cost, std::size_t most = SIZE_MAX);

// "27 steps; 39 without sharing, which saves 5 min 20 s (measured: 7 of 12 runs) and 1.2 GB (…)".
std::string sharing_text(const Sharing& sharing);
Json to_json(const Sharing& sharing);

std::string duration_text(double seconds);   // "5 min 20 s", "0.4 s"
std::string size_text(std::uint64_t bytes);  // "1.2 GB", decimal units

}  // namespace kiln
