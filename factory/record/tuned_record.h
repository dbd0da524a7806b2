// The result of a tuning: a setting of an image, a workload and a kind of host that was measured against the
// default. Format: docs/formats/files.md.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "factory/record/image_record.h"

namespace kiln {

struct TunedRecord {
  std::string image;           // repository:tag
  Digest manifest;             // of the image that was run
  std::string key;             // its plan key
  std::string workload;        // Measurement::workload
  std::string workload_files;  // digest of the workload's files, 64 hex
  HostDescription host;
  std::map<std::string, std::string> settings;  // variables; empty: none was faster than the default
  bool recommended = false;                     // the whole interval of the gain is over 1
  std::string text;                             // the result, in words
  MeasuredGain gain;                            // over the default; 1 where nothing was compared
  int rounds = 0;                               // of the comparison
  std::size_t trials = 0;
  std::int64_t seed = 0;
  std::string kiln;   // version that measured, and the commit of its recipes
  std::string taken;  // RFC 3339

  // "AMD EPYC 7763, 2 cores".
  std::string machine() const;
  // 64 hex digits: that of image, workload and kind of host (model, microarchitecture, cores), of which there
  // is one record.
  std::string sum() const;
};

// Whether kiln's workloads read this variable as their batch or as the workers of their data loader. A
// program takes both in its own way, so a job does not export them.
bool is_workload_option(std::string_view name);
// "OMP_NUM_THREADS=4 OMP_PROC_BIND=close".
std::string setting_text(const std::map<std::string, std::string>& setting);

Json to_json(const TunedRecord& record);
// Throws Error(input) with the place of what is wrong: a name that is no variable's or one that kiln sets
// itself, a value with a control character, an interval that does not fit the recommendation.
TunedRecord tuned_record_from_json(const JsonNode& node);

}  // namespace kiln
