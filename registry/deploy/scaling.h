// MODAK's scaling models: how many ranks and threads an application in an image can make use of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "registry/deploy/job_request.h"
#include "registry/scaling/speedup.h"

namespace kiln {

struct ScalingModel {
  std::string code;                 // opt_dsl_code of the mapping that it is about
  SpeedupModel ranks;               // noop, max or amdahl
  std::optional<int> most_threads;  // of max
};

// {"opt_dsl_code": "…", "model": {"name": "amdahl", "F": 0.9}}, as posted to MODAK. Throws Error(input).
ScalingModel read_scaling_model(const JsonNode& node);

// Lowers ranks and threads of the job to what the model allows. A line says why for each that was lowered.
std::vector<std::string> scale(JobRequest& job, const ScalingModel& model);

}  // namespace kiln
