// A tuning of one workload, or of a training script, in one image: what its journal says comes next, and what
// came out. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/bench/statistics.h"
#include "factory/bench/tuning_journal.h"

namespace kiln {

// The cost of each steady sample: the time of a step for each element of its batch, if the workload states
// its batch, so that settings with other batches are comparable; for a rate the inverse. Less is better.
std::vector<double> costs_of(const BenchRun& run);
// A trial that ended well. REQUIRES: the run is not empty.
TuningTrial complete_trial(TuningSetting setting, const BenchRun& run, double seconds);

struct TuningTerms {
  double budget = 0;        // seconds, of all processes together
  std::size_t trials = 0;   // at most, the default's among them
  int rounds = 0;           // of the comparison; 0: nothing is compared
  double points = 1;        // of the space
  bool rival = false;       // the launcher that stock PyTorch brings is tried as well
  std::size_t at_once = 1;  // trials that are proposed together, and rounds that run together
};

enum class TuningStep { try_default, try_rival, search, compare, end };
struct TuningPlace {
  int round = 0;
  TuningSide side = TuningSide::standard;
};
struct NextTuningStep {
  TuningStep step = TuningStep::end;
  double patience = 0;               // seconds that a trial may take; 0: no limit
  std::size_t count = 1;             // trials to propose together
  std::vector<TuningPlace> turns{};  // of the comparison, by their rounds
  std::string why{};                 // the search ended
};
// The default was stopped at the end of a budget. Nothing follows it, so that a larger one begins anew.
bool ended_with_the_budget(const TuningJournal& journal);

// Throws Error(images_failed) when the default failed, Error(timeout) when it was stopped, and Error(usage)
// when the budget is too small for the default, a trial and the comparison. Trials that are proposed together
// begin at the same numbers in every tuning with this `at_once`, so that the same journal gives the same
// ones.
NextTuningStep next_step(const TuningTerms& terms, const TuningJournal& journal);

// The result. REQUIRES: next_step() returns `end`, and the terms have rounds.
struct TuningVerdict {
  TuningSetting setting;                 // the best of the trials; {}: none was faster than the default
  std::optional<Comparison> comparison;  // of the default (a) with it (b), costs; nothing: not compared
  std::optional<Comparison> over_rival;  // of the rival (a) with it (b)
  bool recommended = false;
  std::string
      text;  // "recommended: 1.12 times as fast as the default (1.08 to 1.17), no better than run_cpu"
};
TuningVerdict verdict_of(const TuningJournal& journal);

}  // namespace kiln
