// The journal of a tuning: its trials, the comparison of the best one with the default, and where each came
// from. It is the complete state of a tuning, so a killed one continues from it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/bench/run.h"
#include "factory/bench/search_space.h"

namespace kiln {

// The rival: the workload started by torch.backends.xeon.run_cpu, which sets OMP_NUM_THREADS, KMP_* and
// LD_PRELOAD from the contents of the image, and binds the process by numactl or taskset. python.sh reads the
// variable. It is no setting that a job could export, so it never wins.
TuningSetting rival_setting();
bool is_rival(const TuningSetting& setting);
// Whether such an image has the launcher: PyTorch for processors, since 1.13.
bool has_rival(const RunAxes& axes);
// As text_of(), but "run_cpu" for the rival.
std::string trial_name(const TuningSetting& setting);
inline constexpr const char* kRivalName = "run_cpu";

// same: the setting was tried before, and the trial has its answer.
enum class TrialEnd { complete, stopped, failed, same };

struct TuningTrial {
  TuningSetting setting;  // of the first trial {}: the default
  TrialEnd end = TrialEnd::complete;
  // Lower is better: the median of costs_of(), or a script's objective. Of complete trials, and of `same` of
  // such; of others nothing.
  std::optional<double> cost{};
  double median = 0;   // as it was measured, in `unit`
  std::string unit;    // ms/step; "" of an objective
  double seconds = 0;  // of the whole process, start included; 0 of `same`
  std::string why{};   // it has no cost; of `same`, the number of the trial
};

// The sides of the comparison: the image as it is, the rival, the best setting.
enum class TuningSide { standard, rival, tuned };

// A start of the workload for the comparison.
struct TuningTurn {
  int round = 0;
  TuningSide side = TuningSide::standard;
  double seconds = 0;
  BenchRun run;
};

// The first line of a journal: everything that identifies a tuning.
struct TuningHead {
  std::string image;           // repository:tag
  std::string key;             // of the image
  std::string workload;        // of a script, its file name
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
  std::string rival_failed;  // why it continues without the rival

  double seconds() const;            // spent so far
  const TuningTrial* best() const;   // of the complete ones but the rival's; nullptr: none
  const TuningTrial* rival() const;  // nullptr: it was not tried
  // nullptr: the comparison is without it.
  const TuningTrial* compared_rival() const;
  std::size_t distinct() const;  // settings that were tried
  std::optional<std::size_t> trial_with(const TuningSetting& setting) const;
};

// A trial with a setting that was tried before: it has that trial's answer, and costs no time.
TuningTrial trial_again(const TuningJournal& journal, std::size_t number);

std::string text_of(const TuningTrial& trial);  // "12.3 ms/step (41 s)", "failed: exit status 1"

// Lines of the journal, without their newlines.
Json to_json(const TuningHead& head);
Json to_json(const TuningTrial& trial, std::size_t number);
Json to_json(const TuningTurn& turn);
Json failed_comparison(TuningSide side, const std::string& why);
// From the whole text. A last line without a newline is what a kill left of one, and is passed over. Throws
// Error(store) with `file` and the line that kiln did not write.
TuningJournal read_tuning_journal(std::string_view text, const std::string& file);

}  // namespace kiln
