#include "factory/app/bench_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "factory/bench/session.h"

namespace kiln {

SpeedsByName known_speeds(const std::vector<Measurement>& history, const MeasuredWorkload& place,
                          const std::set<std::string>& left_out) {
  SpeedsByName latest;
  for (const Measurement& one : history)
    if (is_speed_of(one.workload, place.workload, place.ranks, place.with_data) &&
        one.host.model == place.host.model && one.host.cores == place.host.cores &&
        !left_out.contains(one.session) && (one.workload_files.empty() || one.workload_files == place.files))
      latest[one.workload] = one;
  return latest;
}

std::vector<BenchRow> rows_of(const BenchedImage& image, const std::vector<BenchRun>& counting,
                              const SpeedsByName& before) {
  std::map<std::string, std::vector<BenchRun>> fresh;
  for (const BenchRun& run : counting)
    if (run.key == image.key) fresh[speed_name(run)].push_back(run);
  SpeedsByName speeds;
  for (const auto& [speed, runs] : fresh) speeds.emplace(speed, measurement_of(runs));
  const bool is_fresh = !fresh.empty();
  if (!is_fresh) speeds = before;
  std::vector<BenchRow> rows;
  for (const std::string& name : image.names)
    for (const auto& [speed, measurement] : speeds)
      rows.push_back(
          {name, measurement, is_fresh, is_fresh ? fresh.at(speed) : std::vector<BenchRun>(), image.history});
  return rows;
}

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

std::string doubts_of(const BenchRow& row) {
  std::set<std::string> marks;
  for (const BenchRun& run : row.runs) marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
  const std::string doubt = doubt_about(row.measurement);
  return doubt + (doubt.empty() || marks.empty() ? "" : "; ") + fmt::format("{}", fmt::join(marks, ", "));
}

}  // namespace kiln
