#include "registry/deploy/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/base/text.h"
#include "registry/select/dsl_values.h"

namespace kiln {
namespace {

constexpr int kMostScaled = 100'000'000;

std::optional<int> bound_of(const JsonNode& model, const char* key) {
  auto bound = present(model, key);
  return bound ? std::optional(read_count(*bound, 1, kMostScaled)) : std::nullopt;
}

void lower(std::optional<int>& value, int most, const char* what, const std::string& why,
           std::vector<std::string>& reasons) {
  if (value.value_or(1) <= most) return;
  reasons.push_back(fmt::format("{} {} in place of {}: {}", most, what, *value, why));
  value = most;
}

}  // namespace

ScalingModel read_scaling_model(const JsonNode& node) {
  node.allow_only({"id", "opt_dsl_code", "model"});
  ScalingModel model;
  model.code = node.at("opt_dsl_code").line_of_text();
  const JsonNode details = node.at("model");
  const JsonNode name = details.at("name");
  const std::string word = name.line_of_text() == "no-op" ? "noop" : name.line_of_text();
  const auto kind = kScalingKinds.find(word);
  if (!kind)
    name.fail(fmt::format("'{}' is no scaling model: expected noop, max or amdahl", word),
              did_you_mean(word, kScalingKinds.all()));
  model.kind = *kind;
  if (model.kind == ScalingKind::noop) details.allow_only({"name"});
  if (model.kind == ScalingKind::max) {
    details.allow_only({"name", "max_nranks", "max_nthreads"});
    model.most_ranks = bound_of(details, "max_nranks");
    model.most_threads = bound_of(details, "max_nthreads");
  }
  if (model.kind == ScalingKind::amdahl) {
    details.allow_only({"name", "F"});
    model.parallel = details.at("F").number();
    // At F = 1 every number of ranks is as efficient as one, and the formula divides by zero.
    if (!(model.parallel >= 0 && model.parallel < 1))
      details.at("F").fail("expected a share of the work from 0 up to, but not including, 1");
  }
  return model;
}

// MODAK rounds to the nearest number, which can be one rank too many. The tolerance takes back what the
// division lost.
int amdahl_ranks(double parallel, double efficiency) {
  constexpr double kTolerance = 1e-9;
  const double ranks = (1 - efficiency * parallel) / (efficiency * (1 - parallel));
  return static_cast<int>(std::clamp(std::floor(ranks * (1 + kTolerance)), 1.0, double{kMostScaled}));
}

std::vector<std::string> scale(JobRequest& job, const ScalingModel& model) {
  std::vector<std::string> reasons;
  const std::string of = "the scaling model of " + model.code;
  if (model.most_ranks) lower(job.ranks, *model.most_ranks, "ranks", of + " allows no more", reasons);
  if (model.most_threads) lower(job.threads, *model.most_threads, "threads", of + " allows no more", reasons);
  if (model.kind == ScalingKind::amdahl && job.efficiency)
    lower(job.ranks, amdahl_ranks(model.parallel, *job.efficiency), "ranks",
          fmt::format("by {}, more have an efficiency under {}", of, *job.efficiency), reasons);
  return reasons;
}

}  // namespace kiln
