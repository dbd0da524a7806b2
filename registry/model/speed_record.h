// A measured time of a step, with what is known of workload, image and host: what the performance model
// learns from, and what it is asked. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/record/host_description.h"

namespace kiln {

// One thing that is known of a record. Amounts enter the model as logarithms, words as a level each.
struct ModelFeature {
  std::string_view name;
  bool amount = false;
  bool needed = false;  // a word that was never seen: there is no data. Else the average of those seen
  // A word with too many levels for a coefficient each: it counts only in which records are near.
  bool kin = false;
  std::string_view meaning;
};

// All features there are, in the order in which they are preferred: of two that say the same, the first is
// kept.
const std::vector<ModelFeature>& model_features();
const ModelFeature* find_model_feature(std::string_view name);  // nullptr: there is none of that name

struct SpeedRecord {
  std::string image, workload, host;  // names of what the check leaves out
  double seconds = 0;                 // of a step; 0 in a question
  std::map<std::string, double, std::less<>> amounts;
  std::map<std::string, std::string, std::less<>> words;
};

// Adds what the description knows. Throws Error(input) for a host that cannot be: rates per core beyond any
// machine, or none.
void add_host(SpeedRecord& record, const HostDescription& host);

// A question about a workload: what its records agree on, of it alone. Throws Error(no_match) with the
// workloads that there are.
SpeedRecord workload_question(const std::vector<SpeedRecord>& records, const std::string& workload);

// Sets a feature as a person wrote it. Throws Error(input) for an unknown name or an amount that is no number
// over 0.
void set_model_feature(SpeedRecord& record, std::string_view name, const std::string& value);

}  // namespace kiln
