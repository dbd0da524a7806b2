// The turns of a comparison: which image runs next, which run is repeated, and what is recorded when.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "factory/run/bench_rounds.h"
#include "factory/run/kept_runs.h"

namespace kiln {

// The workload, and how often each image runs it.
struct BenchWork {
  std::string workload;
  WorkloadWishes wishes;
  int rounds = 3;
  int repeats = 1;                  // of a run that others disturbed
  bool again = false;               // what was measured on this host before, too
  std::int64_t no_round_after = 0;  // Unix seconds; 0: no end. Later rounds are left for the same call
  std::size_t runs_after = 0;       // at the most, in what follows this: for the time that is left
};

// Effects of the turns on disk, containers and terminal.
struct TurnEffects {
  // Starts the workload once. A run for each of its metrics.
  std::function<std::vector<BenchRun>(const BenchRequest&)> run;
  // Records the figures of `runs`, and withdraws those that are only of `gone`.
  std::function<void(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& gone)> record;
  std::function<void(const std::string& line)> note;  // for a person who watches
  const Clock& clock;
  // Where runs are jobs: starts what is missing of the next rounds, several at a time, and returns when they
  // have ended. run() then answers with what they measured.
  std::function<void(const std::vector<BenchRound>&)> ahead{};
  int rounds_ahead = 0;  // that it is given
};

struct TurnsDone {
  bool is_complete = true;       // false: rounds are left, because work.no_round_after has come
  std::set<std::string> failed;  // keys of images in which the workload failed
  std::vector<Error> errors;     // theirs
};

// Runs the rounds that are missing in `begun`. Each round is recorded at its end, so that a kill
// loses at most the round that runs. An image whose workload fails, or measures another unit than before,
// loses its runs and gets no more turns; any other error is thrown. `requests`: one for each image, without
// its round.
TurnsDone take_turns(const BenchWork& work, std::vector<BenchRequest>& requests, BegunComparison& begun,
                     const TurnEffects& effects);

}  // namespace kiln
