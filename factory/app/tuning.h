// What a tuning keeps of its trials. Pure. The steps of a tuning are in bench/tuning.h.
#pragma once

#include <string>
#include <vector>

#include "factory/bench/tuning.h"
#include "factory/record/tuned_record.h"

namespace kiln {

// The trials that ended well, the fastest first.
std::vector<const TuningTrial*> by_cost(const TuningJournal& journal);

// What a record says of its origin. `manifest`: of the image. `taken`: RFC 3339.
struct TuningOrigin {
  Digest manifest;
  std::string kiln, taken;
};
// The result of a tuning that has ended.
TunedRecord tuned_record(const TuningHead& head, const TuningJournal& journal, const TuningOrigin& origin);

// "language-model.decode" is the metric `decode` of the workload `language-model`, unless a workload has the
// whole name.
struct NamedMetric {
  std::string workload, metric;  // metric "": the workload's only one
};
NamedMetric split_metric(const std::string& named, const std::vector<std::string>& workloads);

}  // namespace kiln
