// Why images were no answer, counted: of ten thousand nobody reads the reason of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "registry/select/select.h"

namespace kiln {

struct MissReason {
  // The clause that failed: "needs avx512f; host zen2 lacks it". Where images fail it in different ways, some
  // of these: "asks for 2.1; this is 1.0, 1.1, 1.2 and 148 others".
  std::string reason;
  std::size_t count = 0;
  const Candidate* nearest = nullptr;  // of them
};

// Nearest first, as the misses are; of those that met as many clauses the most frequent first. REQUIRES: the
// selection outlives what is returned.
std::vector<MissReason> misses_by_reason(const Selection& selection);

}  // namespace kiln
