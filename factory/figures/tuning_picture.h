// The trials of a tuning as a picture: what each of them cost, and the best so far. Pure.
#pragma once

#include <string>

#include "factory/bench/tuning_journal.h"

namespace kiln {

struct TuningTitle {
  std::string title;  // "mnist-cnn in pytorch:2.15.0"
  std::string what;   // the measured value, with its unit: "ms/step", "objective"
};

// An SVG with the value of each complete trial and the best value so far, and the seconds that each trial
// took. `more_is_better`: of the value. A journal without a complete trial gives empty panels.
std::string tuning_picture(const TuningJournal& journal, const TuningTitle& title, bool more_is_better);

}  // namespace kiln
