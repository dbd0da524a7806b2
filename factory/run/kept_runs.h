// Runs as the state folder keeps them, so that a killed comparison continues, and all earlier measurements
// can be compared again.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/bench/run.h"
#include "factory/bench/workload_output.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

// <state>/bench/runs: a file for each run, named by its content, so that a run that comes twice is there
// once.
class KeptRuns {
 public:
  // REQUIRES: both outlive this.
  KeptRuns(const StatePaths& state, FileSystem& files) : state_(state), files_(files) {}

  // The name of a run: 64 hex digits.
  static std::string sum_of(const BenchRun& run);
  bool contains(const std::string& sum) const { return files_.exists(state_.bench_run(sum)); }
  std::string add(const BenchRun& run);  // its sum
  void remove(const std::string& sum) { files_.remove_all(state_.bench_run(sum)); }
  // Puts a run aside, and takes it back: <state>/bench/discarded/<sum>.json.
  void discard(const std::string& sum) { move(state_.bench_run(sum), state_.bench_discarded(sum)); }
  void restore(const std::string& sum) { move(state_.bench_discarded(sum), state_.bench_run(sum)); }
  std::optional<BenchRun> find(const std::string& sum) const;
  // By date, then in order. All throw Error(store) with the file that kiln did not write or that was changed.
  std::vector<BenchRun> all() const;
  std::vector<BenchRun> discarded() const;

 private:
  std::vector<BenchRun> in(const fs::path& folder) const;
  BenchRun read(const std::string& text, const fs::path& file, const std::string& sum) const;
  void move(const fs::path& from, const fs::path& to);

  const StatePaths& state_;
  FileSystem& files_;
};

// A comparison of which some runs are done. Its name depends on the compared images, so that the same command
// finds it again. The first run writes <state>/bench/begun/<sum>.json, end() takes it away.
class BegunComparison {
 public:
  // `what`: all that makes two comparisons one. REQUIRES: the others outlive this.
  BegunComparison(const Json& what, KeptRuns& runs, const StatePaths& state, FileSystem& files);

  std::size_t done() const { return sums_.size(); }
  std::vector<BenchRun> runs() const;
  std::string session() const;  // of these runs; "": none is done
  // Of `key`, an image's, in this round, one for each metric; empty: it is still to be run.
  std::vector<BenchRun> find(int round, const std::string& key) const;
  // All of one start of the workload: killed within, it is still to be run. REQUIRES: not empty.
  void add(const std::vector<BenchRun>& runs);
  // Removes the runs of this image, because its measurements here are wrong, and returns them.
  std::vector<BenchRun> forget(const std::string& key);
  void end() { files_.remove_all(file_); }
  // For files of the same comparison that jobs read and write.
  fs::path folder() const { return state_.bench_rounds(file_.stem().string()); }

 private:
  void write();

  KeptRuns& runs_;
  const StatePaths& state_;
  FileSystem& files_;
  fs::path file_;
  std::map<std::string, std::vector<std::string>> sums_;  // "<round>/<key>": of its runs, at least one
};

// Sessions of which a begun comparison is not complete.
std::set<std::string> unfinished_sessions(const KeptRuns& runs, const StatePaths& state,
                                          const FileSystem& files);

// The index's records of measured sessions: the figures of their runs (bench/session.h), as long as these are
// kept.
class SessionRecords {
 public:
  explicit SessionRecords(Index& index);  // REQUIRES: it outlives this

  const IndexEntry* find(const std::string& key) const;  // by the bits; nullptr: it is not in the index

  // Records the figures of these runs in place of earlier ones of the same sessions, and withdraws those that
  // are only of runs in `gone`. Returns how many images of the index have a figure in these sessions. `kept`:
  // all that are kept of their sessions.
  std::size_t put(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& gone = {});

 private:
  void record(IndexEntry& entry, Measurement measurement);
  void withdraw(IndexEntry& entry, const BenchRun& gone);

  Index& index_;
  std::map<std::string, IndexEntry> entries_;  // by the bits, which several names may have
};

// Of all kept runs those whose session one of `some` is of.
std::vector<BenchRun> of_their_sessions(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& some);

}  // namespace kiln
