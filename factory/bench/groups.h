// Runs by what they have in common, and two choices of them compared group by group: another time, another
// host, another method. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/bench/run.h"
#include "factory/bench/statistics.h"

namespace kiln {

// What runs are grouped and chosen by: workload, framework, version, method, target, compiler, library,
// accelerator, threads, ranks, input, host, stock, name.
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
};

// "framework=pytorch,method=pip", "host=*EPYC*", "since=2026-11-20,until=2026-11-24T12:00:00Z",
// "snapshot=12". Throws Error(usage) with what is wrong.
RunChoice parse_run_choice(const std::string& text);

// The columns by which two choices are compared: all, but for those that one of them fixes, and what follows
// from these.
std::vector<std::string> common_columns(const RunChoice& a, const RunChoice& b);

std::vector<std::vector<double>> steady_runs(const std::vector<BenchRun>& runs);

// Runs that are alike on both sides.
struct ComparedGroup {
  std::vector<std::string> values;  // of the columns
  std::string unit;
  Comparison comparison;
  std::size_t runs_a = 0;
  std::size_t runs_b = 0;
  std::set<std::string> marks;  // of all these runs
};

struct GroupComparison {
  std::vector<std::string> columns;
  std::vector<ComparedGroup> groups;             // in the order of their values
  std::vector<std::vector<std::string>> only_a;  // values that one side has alone
  std::vector<std::vector<std::string>> only_b;
};

// Throws Error(input) where a group was measured in two units.
GroupComparison compare_groups(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b,
                               std::vector<std::string> columns);

// "1.35 times as fast (1.31 to 1.40)", "no difference (0.98 to 1.03)".
std::string comparison_text(const Comparison& comparison);
nlohmann::json comparison_json(const Comparison& comparison);
nlohmann::json to_json(const GroupComparison& comparison);

}  // namespace kiln
