// A tuning of one workload in one image: its trials, the comparison of the best one with the default, and
// what comes next. The journal is all the state there is, so a tuning that was killed goes on where it was.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/bench/run.h"
#include "factory/bench/search_space.h"
#include "factory/bench/statistics.h"

namespace kiln {

// same: the setting was tried before, and the trial has its answer.
enum class TrialEnd { complete, stopped, failed, same };

struct TuningTrial {
  TuningSetting setting;  // of the first trial {}: the default
  TrialEnd end = TrialEnd::complete;
  double cost = 0;     // lower is better, the median of costs_of(); of complete ones, and of `same` of such
  double median = 0;   // as it was measured, in `unit`
  std::string unit;    // ms/step
  double seconds = 0;  // of the whole process, start included; 0 of `same`
  std::string why{};   // it has no cost; of `same`, the number of the trial
};

// A start of the workload for the comparison.
struct TuningTurn {
  int round = 0;
  bool tuned = false;  // else: the default
  double seconds = 0;
  BenchRun run;
};

// What the first line of a journal says: all that makes two tunings one.
struct TuningHead {
  std::string image;  // repository:tag
  std::string key;    // of the image
  std::string workload;
  std::string workload_files;  // digest
  HostDescription host;
  int steps = 0;     // 0: the workload's
  std::string data;  // real input, "" = synthetic
  std::int64_t seed = 1;
  SearchSpace space;
};

struct TuningJournal {
  std::vector<TuningTrial> trials;  // by number
  std::vector<TuningTurn> turns;
  std::string failed;  // why the comparison ended before its end: the tuned setting failed in it

  double seconds() const;           // spent so far
  const TuningTrial* best() const;  // of the complete ones; nullptr: none
  std::size_t distinct() const;     // settings that were tried
  std::optional<std::size_t> trial_with(const TuningSetting& setting) const;
};

// Lines of the journal, without their newlines.
Json to_json(const TuningHead& head);
Json to_json(const TuningTrial& trial, std::size_t number);
Json to_json(const TuningTurn& turn);
Json failed_comparison(const std::string& why);
// From the whole text. A last line without a newline is what a kill left of one, and is passed over. Throws
// Error(store) with `file` and the line that kiln did not write.
TuningJournal read_tuning_journal(std::string_view text, const std::string& file);

// What each steady sample costs: the time of a step for each element of its batch, where the workload says
// what its batch is, so that settings with another batch compare; of a rate the inverse. Less is better.
std::vector<double> costs_of(const BenchRun& run);
// A trial that ended well. REQUIRES: the run is not empty.
TuningTrial complete_trial(TuningSetting setting, const BenchRun& run, double seconds);

struct TuningTerms {
  double budget = 0;       // seconds, of all processes together
  std::size_t trials = 0;  // at most, the default's among them
  int rounds = 0;          // of the comparison
  double points = 1;       // of the space
};

enum class TuningStep { try_default, search, compare, end };
struct NextTuningStep {
  TuningStep step = TuningStep::end;
  double patience = 0;  // seconds that a trial may take; 0: no limit
  int round = 0;        // of the comparison
  bool tuned = false;
  std::string why{};  // the search ended
};
// Throws Error(images_failed) when the default failed, Error(timeout) when it was stopped, and Error(usage)
// when the budget is too small for the default, a trial and the comparison.
NextTuningStep next_step(const TuningTerms& terms, const TuningJournal& journal);

// What came out. REQUIRES: next_step() says `end`.
struct TuningVerdict {
  TuningSetting setting;                 // the best of the trials; {}: none was faster than the default
  std::optional<Comparison> comparison;  // of the default (a) with it (b), costs; nothing: not compared
  bool recommended = false;
  std::string text;  // "1.12 times as fast as the default (1.08 to 1.17)"
};
TuningVerdict verdict_of(const TuningJournal& journal);

}  // namespace kiln
