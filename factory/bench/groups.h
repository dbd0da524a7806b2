// Groups runs by common properties, and compares two choices of them group by group, each image of one with
// each of the other: another time, another host, another method. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/bench/run.h"
#include "factory/bench/session.h"

namespace kiln {

// Columns by which runs are grouped and chosen: workload, framework, version, method, target, compiler,
// library, accelerator, threads, ranks, input, host, stock, name.
const std::vector<std::string>& run_columns();
// The run's value of a column, "none" where it has none. REQUIRES: a column that there is.
std::string column_of(const BenchRun& run, const std::string& column);

// One side of a comparison.
struct RunChoice {
  std::vector<std::pair<std::string, std::string>> clauses;  // column and glob; of one column any, else all
  std::int64_t since = INT64_MIN;                            // Unix seconds
  std::int64_t until = INT64_MAX;
  std::int64_t snapshot = 0;            // whose images; 0: whichever
  bool has(const BenchRun& run) const;  // but for the snapshot, which the index knows
  // It names a time or circumstances of which a session has one: with another choice, it has no session in
  // common.
  bool names_session() const;
};

// "framework=pytorch,method=pip", "host=*EPYC*", "since=2026-11-20,until=2026-11-24T12:00:00Z",
// "snapshot=12", "session=2026-11-24T12:00:00Z-*", "mark=under load". Throws Error(usage) with the fault.
RunChoice parse_run_choice(const std::string& text);

// The columns by which two choices are compared: all, but for those that one of them fixes, and what follows
// from these.
std::vector<std::string> common_columns(const RunChoice& a, const RunChoice& b);

// An image of each side, under the same circumstances.
struct ComparedPair {
  std::vector<std::string> values;  // of the columns
  std::string unit;
  std::string image_a;  // their names
  std::string image_b;
  double median_a = 0;  // of the medians of their runs, in the unit
  double median_b = 0;
  MeasuredGain gain;  // of B over A
  std::size_t runs_a = 0;
  std::size_t runs_b = 0;
  std::set<std::string> marks;  // of all these runs, and "different sessions"
};

struct GroupComparison {
  std::vector<std::string> columns;
  std::vector<ComparedPair> pairs;               // in the order of their values and images
  std::vector<ComparedPair> apart;               // without a gain: no session has both
  std::vector<std::vector<std::string>> only_a;  // values that one side has alone
  std::vector<std::vector<std::string>> only_b;
};

// How two images are compared that no session has both of.
enum class Apart {
  refuse,
  compare  // each in its last session, with one version of the workload: another time or host is asked for
};

// REQUIRES: each run counts (runs_that_count()). Of each image the last session that has both is compared.
// Throws Error(input) where a group was measured in two units.
GroupComparison compare_groups(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b,
                               std::vector<std::string> columns, Apart apart);

// The geometric mean of the gains, as ratios are summed up: Fleming and Wallace, "How not to lie with
// statistics: the correct way to summarize benchmark results", CACM 29 (1986). Groups are independent
// measurements, so the squares of the half-widths of their intervals add up, on a logarithmic scale. nullopt:
// fewer than two groups have a gain, or one of them has several, of which none speaks for the group.
std::optional<MeasuredGain> mean_gain(const GroupComparison& comparison);

nlohmann::json to_json(const GroupComparison& comparison);

}  // namespace kiln
