#include "factory/figures/tuning_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/figures/scaling_picture.h"

namespace kiln {
namespace {

// Values that differ much, and have no sign, are read best by their logarithm.
bool is_wide(const ChartSeries& values) {
  constexpr double kWide = 30;
  if (values.points.empty()) return false;
  const auto [low, high] =
      std::ranges::minmax_element(values.points, {}, [](const auto& point) { return point.second; });
  return low->second > 0 && high->second > kWide * low->second;
}

}  // namespace

std::string tuning_picture(const TuningJournal& journal, const TuningTitle& title, bool more_is_better) {
  ChartSeries values{"a trial", {}, false}, best{"the best so far", {}}, seconds{"a trial", {}, false};
  for (std::size_t number = 0; number < journal.trials.size(); ++number) {
    const TuningTrial& trial = journal.trials[number];
    const auto x = static_cast<double>(number);
    if (trial.end == TrialEnd::same) continue;
    seconds.points.emplace_back(x, trial.seconds);
    if (trial.end != TrialEnd::complete || is_rival(trial.setting)) continue;
    values.points.emplace_back(x, trial.median);
    const double before = best.points.empty() ? trial.median : best.points.back().second;
    best.points.emplace_back(
        x, more_is_better ? std::max(before, trial.median) : std::min(before, trial.median));
  }
  LineChart chart;
  chart.title = title.title;
  if (const TuningTrial* winner = journal.best())
    chart.lines = {fmt::format("{} trials; the best one: {:.4g} {} with {}", journal.trials.size(),
                               winner->median, title.what, text_of(winner->setting))};
  chart.across = "number of the trial; 0: the default";
  chart.doubles = false;
  const bool wide = is_wide(values);
  chart.panels = {{title.what, wide, {values, best}}, {"Time of a trial, seconds", false, {seconds}}};
  return line_chart_svg(chart);
}

}  // namespace kiln
