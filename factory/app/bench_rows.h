// What a bench answers with: the figures that were measured now, and those that are known. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "factory/night/measuring.h"
#include "registry/select/gain.h"

namespace kiln {

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
