#include "registry/deploy/scaling.h"

#include <fmt/format.h>

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
  const auto law = kSpeedupLaws.find(word);
  if (!law || *law == SpeedupLaw::gustafson)
    name.fail(fmt::format("'{}' is no scaling model: expected noop, max or amdahl", word),
              did_you_mean(word, {"noop", "max", "amdahl"}));
  model.ranks.law = *law;
  if (*law == SpeedupLaw::noop) details.allow_only({"name"});
  if (*law == SpeedupLaw::max) {
    details.allow_only({"name", "max_nranks", "max_nthreads"});
    model.ranks.most = bound_of(details, "max_nranks").value_or(kMostScaled);
    model.most_threads = bound_of(details, "max_nthreads");
  }
  if (*law == SpeedupLaw::amdahl) {
    details.allow_only({"name", "F"});
    model.ranks.parallel = details.at("F").number();
    // At F = 1 every number of ranks is as efficient as one, and the formula divides by zero.
    if (!(model.ranks.parallel >= 0 && model.ranks.parallel < 1))
      details.at("F").fail("expected a share of the work from 0 up to, but not including, 1");
  }
  return model;
}

std::vector<std::string> scale(JobRequest& job, const ScalingModel& model) {
  std::vector<std::string> reasons;
  const std::string of = "the scaling model of " + model.code;
  const int most = static_cast<int>(choose_ranks(model.ranks, job.ranks.value_or(1), job.efficiency));
  lower(job.ranks, most, "ranks",
        model.ranks.law == SpeedupLaw::amdahl
            ? fmt::format("by {}, more have an efficiency under {}", of, job.efficiency.value_or(0))
            : of + " allows no more",
        reasons);
  if (model.most_threads) lower(job.threads, *model.most_threads, "threads", of + " allows no more", reasons);
  return reasons;
}

}  // namespace kiln
