#include "factory/figures/scaling_picture.h"

#include <fmt/format.h>

#include "factory/figures/line_chart.h"
#include "factory/figures/number_text.h"

namespace kiln {
namespace {

template <typename Value>
LinePanel panel_over_ranks(std::string title, bool logarithmic, std::span<const ParallelOutlook> outlooks,
                           bool all, Value value) {
  LinePanel panel{std::move(title), logarithmic, {}};
  for (const ParallelOutlook& outlook : outlooks) {
    ChartSeries series{std::string(kParallelisms.of(outlook.kind)), {}};
    for (const ParallelStep& step : outlook.steps)
      if (step.refusal.empty() && (all || step.fits))
        series.points.emplace_back(static_cast<double>(step.ranks), value(step));
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace

std::string scaling_picture(const Network& network, const TrainingTerms& terms,
                            std::span<const ParallelOutlook> outlooks) {
  LineChart chart;
  chart.title = fmt::format("{} in parallel, predicted", network.name);
  chart.lines = {fmt::format("{} samples, {:.3f} ms each on one rank ({})",
                             number_text(static_cast<double>(terms.samples)), 1000 * network.seconds(),
                             network.measured)};
  chart.across = "ranks";
  chart.panels = {
      panel_over_ranks("Efficiency: work of a rank over that of one rank alone", false, outlooks, false,
                       [](const ParallelStep& step) { return step.efficiency; }),
      panel_over_ranks("Time of an epoch, seconds", true, outlooks, false,
                       [](const ParallelStep& step) { return step.epoch(); }),
      panel_over_ranks(fmt::format("Memory of a rank, GB ({:.3g} there are)", terms.memory / 1e9), true,
                       outlooks, true, [](const ParallelStep& step) { return step.memory / 1e9; })};
  return line_chart_svg(chart);
}

}  // namespace kiln
