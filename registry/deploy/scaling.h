// MODAK's scaling models: how many ranks and threads an application in an image can make use of.
#pragma once

#include <optional>
#include <string>

#include "factory/base/enum_names.h"
#include "factory/base/json.h"
#include "registry/deploy/job_request.h"

namespace kiln {

enum class ScalingKind { noop, max, amdahl };
inline constexpr auto kScalingKinds = enum_names<ScalingKind>(
    {{ScalingKind::noop, "noop"}, {ScalingKind::max, "max"}, {ScalingKind::amdahl, "amdahl"}});

struct ScalingModel {
  std::string code;  // opt_dsl_code of the mapping that it is about
  ScalingKind kind = ScalingKind::noop;
  std::optional<int> most_ranks, most_threads;  // of max
  double parallel = 0;                          // of amdahl: F, the share of the work that is parallel
};

// {"opt_dsl_code": "…", "model": {"name": "amdahl", "F": 0.9}}, as posted to MODAK. Throws Error(input).
ScalingModel read_scaling_model(const JsonNode& node);

// The most ranks with at least this efficiency, 1 or more. By Amdahl, that of n ranks is 1 / (n·(1 − F) + F).
int amdahl_ranks(double parallel, double efficiency);

// Lowers ranks and threads of the job to what the model allows. A line says why for each that was lowered.
std::vector<std::string> scale(JobRequest& job, const ScalingModel& model);

}  // namespace kiln
