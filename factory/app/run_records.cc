#include "factory/app/run_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "factory/run/kept_runs.h"

namespace kiln {

std::vector<BenchRun> chosen_runs(std::vector<BenchRun> runs, const RunChoice& choice,
                                  const std::set<std::string>& keys) {
  std::erase_if(runs, [&](const BenchRun& run) {
    return !choice.has(run) || (choice.snapshot != 0 && !keys.contains(run.key));
  });
  return runs;
}

std::vector<std::string> comparison_columns(const std::vector<std::string>& asked, const RunChoice& a,
                                            const RunChoice& b) {
  if (asked.empty()) return common_columns(a, b);
  for (const std::string& column : asked)
    if (std::ranges::find(run_columns(), column) == run_columns().end())
      throw Error(ExitCode::usage, "--by: there is no column '" + column + "'",
                  fmt::format("columns: {}", fmt::join(run_columns(), ", ")));
  std::vector<std::string> by = {"workload"};
  for (const std::string& column : asked)
    if (column != "workload") by.push_back(column);
  return by;
}

void need_pairs(const GroupComparison& found) {
  if (found.pairs.empty() && !found.apart.empty())
    throw Error(ExitCode::no_match,
                fmt::format("A and B were never measured in turns, with one version of a workload: {} and {}",
                            found.apart.front().image_a, found.apart.front().image_b),
                "`kiln bench --again` of both measures them in turns; since=, host= or session= compares "
                "different sessions");
  if (found.pairs.empty())
    throw Error(ExitCode::no_match,
                fmt::format("A and B have nothing in common by {}", fmt::join(found.columns, ", ")),
                "--by names their common columns, for example --by framework");
}

std::string pair_name(const GroupComparison& found, const ComparedPair& pair) {
  std::string name;
  for (std::size_t i = 0; i < pair.values.size(); ++i) {
    std::set<std::string> all;
    for (const auto* pairs : {&found.pairs, &found.apart})
      for (const ComparedPair& one : *pairs) all.insert(one.values[i]);
    if (all.size() > 1 || found.columns[i] == "workload") name += (name.empty() ? "" : " ") + pair.values[i];
  }
  std::set<std::string> images_a, images_b;
  for (const auto* pairs : {&found.pairs, &found.apart})
    for (const ComparedPair& one : *pairs) {
      if (one.values != pair.values) continue;
      images_a.insert(one.image_a);
      images_b.insert(one.image_b);
    }
  if (images_a.size() > 1) name += ", A " + pair.image_a;
  if (images_b.size() > 1) name += ", B " + pair.image_b;
  return name;
}

void need_known_units(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& kept,
                      const std::string& file) {
  std::map<std::string, std::string> units;
  for (const auto* list : {&kept, &runs})
    for (const BenchRun& run : *list) {
      auto [known, is_new] = units.emplace(run.workload, run.unit);
      if (known->second != run.unit)
        throw Error(
            ExitCode::input, {file, 0, 0, ""},
            fmt::format("'{}' is measured in {} here, not in {}", run.workload, known->second, run.unit),
            "nothing was imported");
    }
}

std::vector<BenchRun> without_runs(std::vector<BenchRun> runs, const std::vector<BenchRun>& some) {
  std::set<std::string> sums;
  for (const BenchRun& run : some) sums.insert(KeptRuns::sum_of(run));
  std::erase_if(runs, [&](const BenchRun& run) { return sums.contains(KeptRuns::sum_of(run)); });
  return runs;
}

std::vector<BenchRun> joined_runs(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& some) {
  std::vector<BenchRun> all = without_runs(runs, some);
  all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace kiln
