// Runs as the performance model learns from them: one record for each image, workload and host. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "registry/model/speed_record.h"

namespace kiln {

struct ModelRecords {
  std::vector<SpeedRecord> records;
  std::vector<std::string> left_out;  // other metrics than step times, a line for each unit and reason
  // Records without amounts, which a linear model cannot use; only anchors predict them (anchors.h).
  std::vector<SpeedRecord> anchored;
  std::vector<std::string> only_anchors;  // their names, a line for each framework and version
};

// Seconds of a step, from times of a step or batch and from rates with a batch. REQUIRES: all runs that are
// kept of their sessions. Throws Error(input) for a host that cannot be.
ModelRecords speed_records(const std::vector<BenchRun>& runs);

}  // namespace kiln
