#include "registry/scaling/outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace kiln {
namespace {

// Why the outlook is not worth more ranks than it is.
std::string end_of(const ParallelOutlook& outlook, const TrainingTerms& terms, double least) {
  for (const ParallelStep& step : outlook.steps) {
    if (outlook.worth && step.ranks <= *outlook.worth) continue;
    const std::string why = bottleneck(step, terms);
    if (!step.refusal.empty() || !step.fits) return fmt::format("{} ranks: {}", step.ranks, why);
    return fmt::format("{} ranks: efficiency {:.2f}, below {:.2f}: {}", step.ranks, step.efficiency, least,
                       why);
  }
  return "";
}

void conclude(ParallelOutlook& outlook, const TrainingTerms& terms, double least) {
  double shortest = 0;
  for (const ParallelStep& step : outlook.steps) {
    if (!step.refusal.empty() || !step.fits) continue;
    if (step.efficiency >= least) outlook.worth = step.ranks;
    if (!outlook.fastest || step.epoch() < shortest) {
      outlook.fastest = step.ranks;
      shortest = step.epoch();
    }
  }
  outlook.end = end_of(outlook, terms, least);
}

}  // namespace

std::vector<ParallelOutlook> parallel_outlooks(const Network& network, const TrainingTerms& terms,
                                               std::span<const std::int64_t> ranks,
                                               std::span<const Parallelism> kinds, double least) {
  std::vector<ParallelOutlook> outlooks;
  for (const Parallelism kind : kinds) {
    ParallelOutlook outlook;
    outlook.kind = kind;
    for (const std::int64_t count : ranks)
      outlook.steps.push_back(parallel_step(network, terms, kind, count));
    conclude(outlook, terms, least);
    outlooks.push_back(std::move(outlook));
  }
  auto order = [](const ParallelOutlook& outlook) {
    const ParallelStep& step = outlook.steps.back();
    return std::make_tuple(!step.refusal.empty(), !step.fits, step.epoch());
  };
  std::stable_sort(outlooks.begin(), outlooks.end(),
                   [&](const ParallelOutlook& a, const ParallelOutlook& b) { return order(a) < order(b); });
  return outlooks;
}

const ParallelStep* best_step(std::span<const ParallelOutlook> outlooks, double least) {
  const ParallelStep* best = nullptr;
  for (const ParallelOutlook& outlook : outlooks)
    for (const ParallelStep& step : outlook.steps)
      if (step.refusal.empty() && step.fits && step.efficiency >= least &&
          (best == nullptr || step.epoch() < best->epoch()))
        best = &step;
  return best;
}

Json to_json(const ParallelStep& step, const TrainingTerms& terms) {
  if (!step.refusal.empty()) return {{"ranks", step.ranks}, {"refused", step.refusal}};
  return {{"ranks", step.ranks},
          {"batch", step.batch},
          {"steps", step.steps},
          {"step_seconds", step.seconds()},
          {"compute_seconds", step.compute},
          {"update_seconds", step.update},
          {"bubble_seconds", step.bubble},
          {"gradients_seconds", step.gradients.seconds()},
          {"activations_seconds", step.activations.seconds()},
          {"epoch_seconds", step.epoch()},
          {"memory_bytes", step.memory},
          {"fits", step.fits},
          {"efficiency", step.efficiency},
          {"bottleneck", bottleneck(step, terms)}};
}

Json to_json(const ParallelOutlook& outlook, const TrainingTerms& terms) {
  Json json{{"strategy", kParallelisms.of(outlook.kind)}, {"steps", Json::array()}};
  for (const ParallelStep& step : outlook.steps) json["steps"].push_back(to_json(step, terms));
  if (outlook.worth) json["worth_ranks"] = *outlook.worth;
  if (outlook.fastest) json["fastest_ranks"] = *outlook.fastest;
  if (!outlook.end.empty()) json["end"] = outlook.end;
  return json;
}

}  // namespace kiln
