// What a tuning does to the outside: its journal on disk, the searcher that proposes settings, and a start of
// the workload with one of them.
#pragma once

#include <string>

#include "factory/bench/tuning.h"
#include "factory/run/bench.h"

namespace kiln {

// <state>/bench/tuning/<sum>.jsonl. A line is on the disk before the next step begins, so that a kill loses
// one trial at most.
class TuningFile {
 public:
  // Named by what `head` says. REQUIRES: files outlives this; the state folder is locked.
  TuningFile(const TuningHead& head, const StatePaths& state, FileSystem& files);

  const fs::path& path() const { return path_; }
  // What is there, without what a kill left of a line; writes the head where there is nothing. Throws
  // Error(store).
  TuningJournal begin();
  void add(const Json& line);  // throws Error(store)
  void remove() { files_.remove_all(path_); }

 private:
  std::string head_;
  fs::path path_;
  FileSystem& files_;
};

// Optuna runs in the tool's own Python, not in an image.
struct TuningSearch {
  fs::path python;
  CommandRunner& runner;
  std::map<std::string, std::string> environment;

  // Throws Error(tool_missing) unless that Python has Optuna.
  void check() const;
  // After the trials of this journal. The same journal gives the same answer. Throws Error(tool_missing,
  // internal, interrupted).
  TuningSetting propose(const fs::path& journal) const;
};

// A trial, whatever comes of it: its end says so. `metric`: of which metric of the workload, "" of its only
// one. Throws what run_workload() throws but images_failed and timeout.
TuningTrial run_trial(BenchRequest request, TuningSetting setting, double patience, const std::string& metric,
                      const StepSetup& setup);
// A turn of the comparison. Throws as run_workload().
TuningTurn run_turn(BenchRequest request, const TuningSetting& setting, const NextTuningStep& next,
                    const std::string& metric, const StepSetup& setup);

}  // namespace kiln
