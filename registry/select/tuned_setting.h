// The setting that `kiln tune` measured for an image, where a question may use it: docs/selection.md, "Tuned
// settings". Pure.
#pragma once

#include <optional>
#include <string>

#include "factory/record/tuned_record.h"
#include "registry/select/select.h"

namespace kiln {

// Of a question with `enable_autotuning`, or that names a workload and does not switch tuning off. At most
// one of the two is set; neither where nothing was tuned, or nothing is asked.
struct TunedChoice {
  std::optional<TunedRecord> setting;
  std::string unused;  // why settings that the image has are not used: "was tuned for mlp on …"
};
TunedChoice tuned_for(const ImageQuery& query, const IndexEntry& entry, const Host& host);

// "tuned for mlp: OMP_NUM_THREADS=1: 1.12 times as fast as the default (1.08 to 1.17), measured on …".
std::string text_of(const TunedRecord& setting);
// For programs: workload, settings, gain, host and time.
Json tuned_json(const TunedRecord& setting);

}  // namespace kiln
