// The turns of a comparison: which image runs next, which run is repeated, and what is recorded when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "factory/night/measuring.h"
#include "factory/run/bench_rounds.h"
#include "factory/run/kept_runs.h"
#include "registry/select/gain.h"

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

// What a bench answers with: the figures that were measured now, and those that are known. Pure.

struct BenchRow {
  std::string image;  // repository:tag
  Measurement measurement;
  bool fresh = false;                // measured now
  std::vector<BenchRun> runs;        // of which the measurement is; empty where it is not fresh
  std::vector<Measurement> history;  // all measurements of the image, by their time
};

using SpeedsByName = std::map<std::string, Measurement>;  // by Measurement::workload

// The last of each metric of the workload on this machine, with this version of the workload or an unknown
// one. `left_out`: sessions that do not count, as they are not complete or go on now.
SpeedsByName known_speeds(const std::vector<Measurement>& history, const MeasuredWorkload& place,
                          const std::set<std::string>& left_out);

// Some bits, and what is known of them.
struct BenchedImage {
  std::string key;
  std::vector<std::string> names;  // repository:tag of all images that have these bits
  std::vector<Measurement> history;
};
// A row for each name and metric: from the runs that count. Without such runs, it is from `before`.
std::vector<BenchRow> rows_of(const BenchedImage& image, const std::vector<BenchRun>& counting,
                              const SpeedsByName& before);

// Over the first row of its workload that was measured now, or else the first one; nullopt for that row, and
// where no session has both. The same figure as of `kiln select`.
std::vector<std::optional<GainOver>> gains_of(const std::vector<BenchRow>& rows);

// Why the row is to be read with care: its figures, and the marks of its runs. "" = no reason.
std::string doubts_of(const BenchRow& row);

}  // namespace kiln
