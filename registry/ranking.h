// The order among images that qualify. Pure; total, so that the answer never depends on the order of the
// entries.
#pragma once

#include <string>
#include <vector>

#include "registry/select.h"

namespace kiln {

// Why one image stands before another: the first of these in which they differ.
enum class Preference { measured, speed, optimised, fewer_accelerators, specific_target, version, name };

struct Ranked {
  Candidate candidate;
  std::string name;
  std::size_t specificity = 0;  // of the target: more is better
  int host_group = 0;           // 0: the nearest host that anything was measured on; unmeasured last
};

// Best first. Sets Candidate::measured.
std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus);

Preference first_difference(const ImageQuery& query, const Ranked& better, const Ranked& other);

}  // namespace kiln
