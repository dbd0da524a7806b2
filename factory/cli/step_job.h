// `kiln step --slurm`: the step, or the packaging of an image, as a job of the site's Slurm.
#pragma once

#include <cstdint>

#include "factory/cli/invocation.h"
#include "factory/plan/plan_json.h"

namespace kiln {

// Until its end. What is here is what a job of `kiln step` with the same plan does. `no_start_after`: Unix
// seconds; 0: no end. Throws Error(usage) where the site file has no Slurm.
void run_step_as_job(const Step& step, const std::string& plan, std::int64_t no_start_after,
                     Invocation& invocation);
void run_packaging_as_job(const ImageSpec& image, const std::string& plan, Invocation& invocation);

}  // namespace kiln
