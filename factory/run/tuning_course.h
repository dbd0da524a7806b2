// The course of a tuning, from the state of its journal to its end.
#pragma once

#include <functional>
#include <string>

#include "factory/bench/tuning_start.h"
#include "factory/run/tuning_run.h"

namespace kiln {

struct TuningCourse {
  TuningTerms terms;
  bool maximises = false;  // more of a script's objective is better
  TuningFile& file;
  const TuningSearch& search;
  const Clock& clock;
  TuningStarter start;
  std::function<void(const std::string&)> tell;  // a line for people
};

// Goes on after `journal`, writes down each step, and returns the journal at its end. Throws as next_step(),
// TuningSearch::propose(), TuningFile::add() and the starter do, and Error(images_failed) when the default
// fails in the comparison; then the same call goes on.
TuningJournal run_course(const TuningCourse& course, TuningJournal journal);

}  // namespace kiln
