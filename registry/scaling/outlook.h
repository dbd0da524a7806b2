// Each kind of parallelism over the numbers of ranks, and which is the best. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "registry/scaling/parallel_step.h"

namespace kiln {

struct ParallelOutlook {
  Parallelism kind = Parallelism::data;
  std::vector<ParallelStep> steps;  // one for each number of ranks
  // The most ranks whose step fits and is as efficient as was asked for; nullopt: none is.
  std::optional<std::int64_t> worth;
  // The ranks of the shortest epoch that fits; nullopt: none fits.
  std::optional<std::int64_t> fastest;
  std::string end;  // why it is not worth more ranks, or none
};

// Ranked: by the time of an epoch at the most ranks, those that fit the memory first, and those that have no
// such step last. `least`: the efficiency below which ranks are not worth it. REQUIRES: ranks ascends and is
// not empty, as is kinds.
std::vector<ParallelOutlook> parallel_outlooks(const Network& network, const TrainingTerms& terms,
                                               std::span<const std::int64_t> ranks,
                                               std::span<const Parallelism> kinds, double least);

// The step of the shortest epoch that fits the memory and is as efficient as `least`; nullptr: there is none.
const ParallelStep* best_step(std::span<const ParallelOutlook> outlooks, double least);

Json to_json(const ParallelStep& step, const TrainingTerms& terms);
Json to_json(const ParallelOutlook& outlook, const TrainingTerms& terms);

}  // namespace kiln
