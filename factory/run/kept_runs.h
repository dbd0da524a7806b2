// Runs as the state folder keeps them, so that a comparison that was killed goes on where it was, and
// everything that was ever measured can be compared again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/bench/run.h"
#include "factory/bench/workload_output.h"
#include "factory/state/state.h"

namespace kiln {

// <state>/bench/runs: a file for each run, named by its content, so that a run that comes twice is there
// once.
class KeptRuns {
 public:
  // REQUIRES: both outlive this. `now`: Unix seconds, as bench_run_from_json() has it.
  KeptRuns(const StatePaths& state, FileSystem& files, std::int64_t now)
      : state_(state), files_(files), now_(now) {}

  // What a run is named by: 64 hex digits.
  static std::string sum_of(const BenchRun& run);
  bool contains(const std::string& sum) const { return files_.exists(state_.bench_run(sum)); }
  std::string add(const BenchRun& run);  // its sum
  void remove(const std::string& sum) { files_.remove_all(state_.bench_run(sum)); }
  std::optional<BenchRun> find(const std::string& sum) const;
  // By date, then in order. Both throw Error(store) with the file that is none of ours or was changed.
  std::vector<BenchRun> all() const;

 private:
  BenchRun read(const std::string& text, const std::string& sum) const;

  const StatePaths& state_;
  FileSystem& files_;
  std::int64_t now_;
};

// A comparison of which some runs are done. It is named by what is compared, so that the same command finds
// it again. The first run writes <state>/bench/begun/<sum>.json, end() takes it away.
class BegunComparison {
 public:
  // `what`: all that makes two comparisons one. REQUIRES: the others outlive this.
  BegunComparison(const Json& what, KeptRuns& runs, const StatePaths& state, FileSystem& files);

  std::size_t done() const { return sums_.size(); }
  // Of `key`, an image's, in this round; nullopt: it is still to be run.
  std::optional<BenchRun> find(int round, const std::string& key) const;
  void add(const BenchRun& run);
  // What was measured of this image here is not to be believed: its runs go, wherever they are kept.
  void forget(const std::string& key);
  void end() { files_.remove_all(file_); }

 private:
  void write();

  KeptRuns& runs_;
  FileSystem& files_;
  fs::path file_;
  std::map<std::string, std::string> sums_;  // "<round>/<key>": the run's
};

}  // namespace kiln
