// What a step will need, from what steps like it needed. Pure.
//
// As Spack's gantry does it, from the last five runs of the nearest kind: of the same step; of the same
// component in the same version by the same method; of the same component; else nothing is known. The target
// is left out, as it is there: it says little about memory.
//
// Other than there, where the mean of means is asked for, memory is the most that any of the five had, and a
// quarter more; half as much again where they were other steps. The mean of a distribution is too little
// every second time, and what is reserved too little here is an OOM kill of a build of hours, while what is
// reserved too much is a wait. It is no bound: gantry's documentation speaks of builds of one package that
// differ by 200 to 400 % for no reason that can be seen, so nothing is killed for having more than was
// predicted. A try that ran out of memory counts with twice what it had.
#pragma once

#include <cstdint>
#include <vector>

#include "factory/state/step_history.h"

namespace kiln {

struct StepNeed {
  enum class Like { step, method, component, nothing };
  Like like = Like::nothing;  // what those runs were of
  std::size_t runs = 0;       // at most five
  std::uint64_t memory = 0;   // bytes; 0: not known
  double seconds = 0;         // the mean; 0: not known
  double processors = 0;      // that the busiest of them kept busy, over its time; 0: not known
  double deviation = 0;       // of one run from that, in seconds; from a single run half of its time
};

// `history`: oldest first.
StepNeed need_of(const PastRun& step, const std::vector<PastRun>& history);

}  // namespace kiln
