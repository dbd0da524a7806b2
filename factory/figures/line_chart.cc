#include "factory/figures/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "factory/base/quote.h"
#include "factory/figures/chart_text.h"

namespace kiln {
namespace {

constexpr double kPictureWidth = 560, kMargin = 12, kLeft = 64;  // pixels, left of the axis
constexpr double kPlotWidth = kPictureWidth - kLeft - 2 * kMargin, kPlotHeight = 170;
constexpr double kHeadSize = 15, kPanelSize = 13, kSmallSize = 11;

// Of Okabe and Ito's set, without its yellow, which white paper hides. Dashes are for grey print.
constexpr std::array kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#888888"};
constexpr std::array kDashes = {"", "7 3", "2 3"};

struct ValueScale {
  double low = 0, high = 1;
  bool logarithmic = false;
  double place(double value) const {  // 0 to 1
    if (high <= low) return 0.5;
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
};

// The next of 1, 2, 5, 10, …; 0 of 0.
double round_beyond(double value) {
  if (value <= 0) return 0;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

ValueScale value_scale(const LinePanel& panel) {
  ValueScale scale{0, 0, panel.logarithmic};
  double least = 0;
  bool first = true;
  for (const ChartSeries& series : panel.series)
    for (const auto& [x, y] : series.points) {
      if (panel.logarithmic) scale.low = first ? y : std::min(scale.low, y);
      scale.high = first ? y : std::max(scale.high, y);
      least = std::min(least, y);
      first = false;
    }
  if (first) return panel.logarithmic ? ValueScale{1, 10, true} : ValueScale{};  // there is no point
  if (panel.logarithmic) {
    scale.low = std::pow(10, std::floor(std::log10(scale.low)));
    scale.high = std::pow(10, std::ceil(std::log10(scale.high) + 1e-9));
  } else {
    scale.high = round_beyond(std::max(scale.high, 0.0));
    scale.low = -round_beyond(-least);
  }
  return scale;
}

std::vector<double> value_ticks(const ValueScale& scale) {
  std::vector<double> ticks;
  if (scale.logarithmic) {
    const double decades = std::round(std::log10(scale.high / scale.low));
    const int every = std::max(1, static_cast<int>(std::ceil(decades / 5)));
    for (int i = 0; i <= static_cast<int>(decades); i += every) ticks.push_back(scale.low * std::pow(10, i));
    return ticks;
  }
  for (int i = 0; i <= 4; ++i) ticks.push_back(scale.low + (scale.high - scale.low) * i / 4);
  return ticks;
}

std::string mark_text(double value) {
  return value >= 1000 ? number_text(value) : fmt::format("{:g}", value);
}

class LineDrawing {
 public:
  explicit LineDrawing(const LineChart& chart) : chart_(chart) {
    for (const LinePanel& panel : chart.panels)
      for (const ChartSeries& series : panel.series) {
        if (std::ranges::find(labels_, series.label) == labels_.end()) labels_.push_back(series.label);
        for (const auto& [x, y] : series.points) places_.push_back(x);
      }
    std::ranges::sort(places_);
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    if (!places_.empty()) across_ = {places_.front(), places_.back(), chart.doubles};
  }

  std::string svg() {
    words(chart_.title, kHeadSize, "title");
    for (const std::string& line : chart_.lines) words(line, kSmallSize, "soft");
    for (const LinePanel& panel : chart_.panels) draw(panel);
    legend();
    return chart_svg(chart_.title, kPictureWidth, y_ + kMargin, ".chart .side{text-anchor:end}</style>",
                     body_);
  }

 private:
  void words(const std::string& text, double size, std::string_view type) {
    body_ += text_elements(text, {kPictureWidth - 2 * kMargin, size, 3, kMargin}, type, y_);
  }

  double at(double x) const { return kMargin + kLeft + across_.place(x) * kPlotWidth; }

  void draw(const LinePanel& panel) {
    y_ += 10;
    words(panel.title, kPanelSize, "group");
    y_ += 8;
    const ValueScale scale = value_scale(panel);
    const double bottom = y_ + kPlotHeight;
    for (const double tick : value_ticks(scale)) {
      const double y = bottom - scale.place(tick) * kPlotHeight;
      body_ += fmt::format(
          "<path class=\"line\" d=\"M{0:.1f} {2:.1f}H{1:.1f}\"/><text class=\"soft side\" "
          "x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
          kMargin + kLeft, kMargin + kLeft + kPlotWidth, y, kMargin + kLeft - 6, y + 4, mark_text(tick));
    }
    for (const ChartSeries& series : panel.series) draw(series, scale, bottom);
    axis(bottom);
  }

  // As many numbers as have room, the last one always.
  void axis(double bottom) {
    y_ = bottom + kSmallSize + 4;
    double free_before = kPictureWidth;
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      const std::string text = mark_text(*place);
      const double half = text_width(text, kSmallSize) / 2 + 4;
      if (at(*place) + half > free_before) continue;
      body_ +=
          fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at(*place), y_, text);
      free_before = at(*place) - half;
    }
    y_ += 2;
    words(chart_.across, kSmallSize, "soft");
  }

  void draw(const ChartSeries& series, const ValueScale& scale, double bottom) {
    const auto number = static_cast<std::size_t>(std::ranges::find(labels_, series.label) - labels_.begin());
    std::string path, dots;
    for (const auto& [x, y] : series.points) {
      const double across = at(x), down = bottom - scale.place(y) * kPlotHeight;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across, down);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>", across, down,
                          colour(number));
    }
    body_ += fmt::format("<g><title>{}</title>{}{}</g>\n", markup_text(series.label),
                         series.joined ? stroke(path, number) : "", dots);
  }

  static std::string_view colour(std::size_t number) { return kColours.at(number % kColours.size()); }
  static std::string stroke(const std::string& path, std::size_t number) {
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>", path,
        colour(number), kDashes.at(number / kColours.size() % kDashes.size()));
  }

  void legend() {
    double x = kMargin;
    y_ += 12;
    for (std::size_t number = 0; number < labels_.size(); ++number) {
      const double width = 30 + text_width(labels_[number], kSmallSize) + 12;
      if (x > kMargin && x + width > kPictureWidth - kMargin) {
        x = kMargin;
        y_ += 18;
      }
      body_ += stroke(fmt::format("M{:.1f} {:.1f}h24", x, y_), number);
      body_ += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 30, y_ + 4,
                           markup_text(labels_[number]));
      x += width;
    }
    y_ += 8;
  }

  const LineChart& chart_;
  std::vector<std::string> labels_;
  std::vector<double> places_;
  ValueScale across_{1, 1, true};
  std::string body_;
  double y_ = kMargin;
};

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

// Values that differ much, and have no sign, are read best by their logarithm.
bool is_wide(const ChartSeries& values) {
  constexpr double kWide = 30;
  if (values.points.empty()) return false;
  const auto [low, high] =
      std::ranges::minmax_element(values.points, {}, [](const auto& point) { return point.second; });
  return low->second > 0 && high->second > kWide * low->second;
}

}  // namespace

std::string line_chart_svg(const LineChart& chart) { return LineDrawing(chart).svg(); }

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
