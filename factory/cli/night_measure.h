// The measuring of a night: `kiln bench` for what is new or changed, within a budget, on a quiet machine.
#pragma once

#include <chrono>
#include <vector>

#include "factory/app/night_parts.h"
#include "factory/bench/suite.h"
#include "factory/cli/invocation.h"

namespace kiln {

struct MeasureTerms {
  Suite suite;
  std::chrono::seconds budget{0};  // 0: no end
  bool on_busy_machine = false;    // measure although other processes keep it busy
};

// Lets images that claim more than stock take turns with their stock images, by measure_agenda(). `before`:
// images of the last night that looked at any. What it did before an error ended it is in `done`. Throws
// Error(interrupted), Error(store). REQUIRES: the state folder is locked.
void measure_for_night(const Catalogue& catalogue, const MeasureTerms& terms,
                       const std::vector<NightImage>& before, const Site& site, Invocation& invocation,
                       NightMeasuring& done);

}  // namespace kiln
