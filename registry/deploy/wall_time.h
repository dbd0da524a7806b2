// Times of jobs: read once to seconds, written once for each scheduler.
#pragma once

#include <chrono>
#include <string>

#include "factory/base/json.h"

namespace kiln {

// A number of seconds (as in MODAK), or a text: `12:00:00`, `1-12:00:00`, `90:00` (minutes and seconds), `29`
// (seconds), `PT12H` (ISO 8601), `12h`. Blanks around it are dropped. Throws Error(input) for any other text,
// for minutes or seconds over 59 behind a colon, and for zero, which schedulers read as "no limit".
std::chrono::seconds read_wall_time(const JsonNode& node);

std::string slurm_time(std::chrono::seconds time);  // 1-12:00:00; sbatch(1): "days-hours:minutes:seconds"
std::string pbs_time(std::chrono::seconds time);    // 36:00:00

}  // namespace kiln
