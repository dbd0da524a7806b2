#include "factory/cli/bench_rows.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

// Over the first row of its workload that was measured now, or else the first one; nullopt for that row, and
// where no session has both. The same figure as of `kiln select`.
std::vector<std::optional<GainOver>> gains_of(const std::vector<BenchRow>& rows) {
  std::map<std::string, const BenchRow*> first;
  for (bool fresh : {true, false})
    for (const BenchRow& row : rows)
      if (row.fresh == fresh) first.emplace(row.measurement.workload, &row);
  std::vector<std::optional<GainOver>> found;
  for (const BenchRow& row : rows) {
    const BenchRow& over = *first.at(row.measurement.workload);
    found.push_back(row.measurement.key == over.measurement.key
                        ? std::nullopt
                        : gain_over(row.history, over.history, row.measurement));
  }
  return found;
}

Json gain_json(const GainOver& found) {
  const MeasuredGain& gain = found.gain;
  return {{"a", found.over->median}, {"b", found.of->median}, {"ratio", gain.ratio},
          {"low", gain.low},         {"high", gain.high},     {"different", gain.different()}};
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

Json to_json(const BenchRow& row, const std::optional<GainOver>& gain) {
  Json item = to_json(row.measurement);
  item["name"] = row.image;
  item["measured_now"] = row.fresh;
  item["doubtful"] = doubts_of(row);
  if (!row.runs.empty()) {
    item["runs"] = row.runs.size();
    item["stock"] = row.runs.back().stock;
  }
  item.erase("gains");  // over all others of the session, by their keys
  if (gain) item["against_first"] = gain_json(*gain);
  return item;
}

}  // namespace

void print_bench_rows(const std::vector<BenchRow>& rows, const std::string& format) {
  const std::vector<std::optional<GainOver>> gains = gains_of(rows);
  if (format == "json") {
    Json all = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(to_json(rows[i], gains[i]));
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
               std::to_string(measured.samples), gains[i] ? gain_text(gains[i]->gain) : "",
               row.fresh ? "now" : measured.taken, doubts_of(row)});
  }
  print_text(table.text());
}

}  // namespace kiln
