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

// The rival: the workload started by torch.backends.xeon.run_cpu, which sets OMP_NUM_THREADS, KMP_* and
// LD_PRELOAD by what it finds in the image, and binds the process by numactl or taskset. python.sh reads the
// variable. It is no setting that a job could export, so it never wins.
TuningSetting rival_setting();
bool is_rival(const TuningSetting& setting);
// Whether such an image has the launcher: PyTorch for processors, since 1.13.
bool has_rival(const RunAxes& axes);
// As text_of(), but "run_cpu" for the rival.
std::string trial_name(const TuningSetting& setting);

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

// What the comparison starts: the image as it is, the rival, the best setting.
enum class TuningSide { standard, rival, tuned };

// A start of the workload for the comparison.
struct TuningTurn {
  int round = 0;
  TuningSide side = TuningSide::standard;
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
  std::string failed;        // why the comparison ended before its end: the tuned setting failed in it
  std::string rival_failed;  // why it goes on without the rival

  double seconds() const;            // spent so far
  const TuningTrial* best() const;   // of the complete ones but the rival's; nullptr: none
  const TuningTrial* rival() const;  // nullptr: it was not tried
  std::size_t distinct() const;      // settings that were tried
  std::optional<std::size_t> trial_with(const TuningSetting& setting) const;
};

// Lines of the journal, without their newlines.
Json to_json(const TuningHead& head);
Json to_json(const TuningTrial& trial, std::size_t number);
Json to_json(const TuningTurn& turn);
Json failed_comparison(TuningSide side, const std::string& why);
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
  bool rival = false;      // the launcher that stock PyTorch brings is tried as well
};

enum class TuningStep { try_default, try_rival, search, compare, end };
struct NextTuningStep {
  TuningStep step = TuningStep::end;
  double patience = 0;  // seconds that a trial may take; 0: no limit
  int round = 0;        // of the comparison
  TuningSide side = TuningSide::standard;
  std::string why{};  // the search ended
};
// The default was stopped at the end of a budget. Nothing follows it, so that a larger one begins anew.
bool ended_with_the_budget(const TuningJournal& journal);

// Throws Error(images_failed) when the default failed, Error(timeout) when it was stopped, and Error(usage)
// when the budget is too small for the default, a trial and the comparison.
NextTuningStep next_step(const TuningTerms& terms, const TuningJournal& journal);

// What came out. REQUIRES: next_step() says `end`.
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
