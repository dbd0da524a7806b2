#include "factory/cli/bench_rows.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/bench/groups.h"
#include "factory/bench/statistics.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"

namespace kiln {
namespace {

// With the first row of its workload that was measured now; nullopt for that row, and where nothing is.
std::vector<std::optional<Comparison>> compare_rows(const std::vector<BenchRow>& rows) {
  std::map<std::string, const BenchRow*> first;
  std::vector<std::optional<Comparison>> found(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    if (row.runs.empty()) continue;
    auto [place, is_first] = first.emplace(row.measurement.workload, &row);
    if (is_first || place->second->measurement.key == row.measurement.key) continue;
    found[i] = compare_runs(steady_runs(place->second->runs), steady_runs(row.runs),
                            more_is_better(row.measurement.unit));
  }
  return found;
}

std::string marks_of(const std::vector<BenchRun>& runs) {
  std::set<std::string> marks;
  for (const BenchRun& run : runs) marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
  return fmt::format("{}", fmt::join(marks, ", "));
}

// What is doubtful by its figures, and what the runs were marked with.
std::string doubts_of(const BenchRow& row) {
  const std::string doubt = doubt_about(row.measurement);
  const std::string marks = marks_of(row.runs);
  return doubt + (doubt.empty() || marks.empty() ? "" : "; ") + marks;
}

Json to_json(const BenchRow& row, const std::optional<Comparison>& comparison) {
  Json item = to_json(row.measurement);
  item["name"] = row.image;
  item["measured_now"] = row.fresh;
  item["doubtful"] = doubts_of(row);
  if (!row.runs.empty()) {
    item["runs"] = row.runs.size();
    item["stock"] = row.runs.back().stock;
  }
  if (comparison) item["against_first"] = comparison_json(*comparison);
  return item;
}

}  // namespace

void print_bench_rows(const std::vector<BenchRow>& rows, const std::string& format) {
  const std::vector<std::optional<Comparison>> comparisons = compare_rows(rows);
  if (format == "json") {
    Json all = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(to_json(rows[i], comparisons[i]));
    print_json(all);
    return;
  }
  Table table({"IMAGE", "WORKLOAD", "MEDIAN", "QUARTILES", "UNIT", "SAMPLES", "AGAINST THE FIRST", "MEASURED",
               "DOUBTFUL"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    const Measurement& measured = row.measurement;
    table.add({row.image, measured.workload, fmt::format("{:.1f}", measured.median),
               fmt::format("{:.1f} to {:.1f}", measured.low, measured.high), measured.unit,
               std::to_string(measured.samples), comparisons[i] ? comparison_text(*comparisons[i]) : "",
               row.fresh ? "now" : measured.taken, doubts_of(row)});
  }
  print_text(table.text());
}

}  // namespace kiln
