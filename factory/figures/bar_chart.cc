#include "factory/figures/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "factory/base/quote.h"
#include "factory/figures/chart_text.h"

namespace kiln {
namespace {

constexpr double kWidth = 440, kEdge = 12;  // all lengths are pixels of a picture that is not scaled
constexpr double kInside = kWidth - 2 * kEdge;
constexpr double kTitleSize = 15, kGroupSize = 13, kLabelSize = 12.5, kNoteSize = 11;
constexpr double kBarHeight = 16;
constexpr double kIndent = 6;      // of words beside the line of zero
constexpr double kLeast = 1.5;     // a bar that is measured is seen
constexpr double kMostUnit = 110;  // a unit that is wider stands at the axis alone
constexpr double kGapWidth = 96;   // of the box that says that nothing was measured

struct BarStyle {
  BarKind kind;
  std::string_view word;    // the class of its style, the end of its pattern's id
  std::string_view legend;  // for people
};

constexpr std::array kStyles = {
    BarStyle{BarKind::stock, "stock", "stock: as the project publishes it"},
    BarStyle{BarKind::built, "built", "other components than stock"},
    BarStyle{BarKind::compiled, "compiled", "with a graph compiler"},
};

const BarStyle& style_of(BarKind kind) { return kStyles[static_cast<std::size_t>(kind)]; }

// <pattern> elements, their ids begin with `id`.
std::string bar_patterns(std::string_view id) {
  return fmt::format(
      "<pattern id=\"{0}-stock\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"/>"
      "<pattern id=\"{0}-built\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><path d=\"M0 0V7\" stroke=\"#000\" stroke-width=\"3\" "
      "stroke-opacity=\".55\"/></pattern>"
      "<pattern id=\"{0}-compiled\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
      "<circle cx=\"3\" cy=\"3\" r=\"1.5\" fill=\"#fff\" fill-opacity=\".9\"/></pattern>",
      id);
}

struct Ticks {
  double step = 1;
  int count = 1;  // steps to the right end
};

// Steps of 1, 2 or 5 times a power of ten, three to six of them.
Ticks ticks_for(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 4)));
  double step = power;
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (most / step <= 5) break;
  }
  return {step, std::max(1, static_cast<int>(std::ceil(most / step - 1e-9)))};
}

std::string tick_text(double value, double step) {
  const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  return step >= 1 && value >= 1000 ? number_text(value) : fmt::format("{:.{}f}", value, decimals);
}

class ChartDrawing {
 public:
  explicit ChartDrawing(const BarChart& chart) : chart_(chart) {
    double most = 0;
    for (const BarGroup& group : chart.groups)
      for (const Bar& bar : group.bars) {
        if (!bar.value) continue;
        most = std::max({most, bar.value->value, bar.value->high});
        reserve_ = std::max(reserve_, text_width(value_text(*bar.value), kNoteSize) + 10);
      }
    plot_ = kInside - reserve_;
    ticks_ = ticks_for(most > 0 ? most : 1);
    scale_ = plot_ / (ticks_.step * ticks_.count);
    measured_ = most > 0;
  }

  std::string svg() {
    header();
    top_ = y_;
    for (const BarGroup& group : chart_.groups) {
      if (!group.title.empty()) {
        y_ += 6;
        text(group.title, kGroupSize, "group", 2, kIndent);
      }
      for (const Bar& bar : group.bars) add(bar);
    }
    std::string marks;
    marks.swap(body_);
    if (measured_) axis();
    body_ += marks;
    legend();
    return whole();
  }

 private:
  std::string value_text(const BarValue& value) const {
    const std::string number = number_text(value.value);
    return text_width(chart_.unit, kNoteSize) > kMostUnit ? number : number + " " + chart_.unit;
  }

  // Lines from the top left corner of where we are, and moves below them.
  void text(std::string_view words, double size, std::string_view type, std::size_t lines,
            double indent = 0) {
    body_ += text_elements(words, {kInside - indent, size, lines, kEdge + indent}, type, y_);
  }

  void header() {
    text(chart_.title, kTitleSize, "title", 3);
    y_ += 2;
    for (const std::string& line : chart_.lines) text(line, kNoteSize, "soft", 3);
    y_ += 2;
  }

  void add(const Bar& bar) {
    y_ += 5;
    const std::string& hover = bar.title.empty() ? bar.label : bar.title;
    body_ += fmt::format("<g><title>{}</title>\n", markup_text(hover));
    text(bar.label, kLabelSize, "label", 3, kIndent);
    y_ += 2;
    if (bar.value)
      draw(bar, *bar.value);
    else
      gap();
    y_ += kBarHeight + 1;
    for (const std::string& mark : bar.marks) text("! " + mark, kNoteSize, "mark", 2, kIndent);
    if (!bar.note.empty()) text(bar.note, kNoteSize, "soft", 3, kIndent);
    body_ += "</g>\n";
  }

  void draw(const Bar& bar, const BarValue& value) {
    const double width = std::max(kLeast, value.value * scale_), middle = y_ + kBarHeight / 2;
    const BarStyle& style = style_of(bar.kind);
    body_ += fmt::format(
        "<rect class=\"{0}\" x=\"{2}\" y=\"{3:.1f}\" width=\"{4:.1f}\" height=\"{5}\"/>"
        "<rect class=\"over{1}\" x=\"{2}\" y=\"{3:.1f}\" width=\"{4:.1f}\" height=\"{5}\" "
        "fill=\"url(#{6}-{0})\"/>\n",
        style.word, bar.marks.empty() ? "" : " marked", kEdge, y_, width, kBarHeight, chart_.id);
    const double low = kEdge + value.low * scale_, high = kEdge + value.high * scale_;
    const std::string whisker = fmt::format("M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v8M{1:.1f} {3:.1f}v8",
                                            low, high, middle, middle - 4);
    body_ += fmt::format("<path class=\"halo\" d=\"{0}\"/><path class=\"whisker\" d=\"{0}\"/>\n", whisker);
    body_ += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                         std::max(kEdge + width, high) + 6, middle + 4, markup_text(value_text(value)));
  }

  void gap() {
    body_ += fmt::format(
        "<rect class=\"gap\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>"
        "<text class=\"soft\" x=\"{}\" y=\"{:.1f}\">not measured</text>\n",
        kEdge + 0.5, y_ + 0.5, kGapWidth, kBarHeight - 1, kEdge + 8, y_ + kBarHeight - 4.5);
  }

  // Lines from the first bar to the last, behind them; the numbers, and what they are.
  void axis() {
    y_ += 6;
    for (int number = 0; number <= ticks_.count; ++number) {
      const double value = number * ticks_.step, x = kEdge + value * scale_;
      body_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", number == 0 ? "zero" : "line",
                           x, top_, y_);
      body_ += fmt::format("<text class=\"tick{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                           number == 0 ? " first" : "", x, y_ + kNoteSize + 2, tick_text(value, ticks_.step));
    }
    y_ += kNoteSize + 4;
    text(fmt::format("{}, {} is better; whiskers: 95 % interval", chart_.unit,
                     chart_.more_is_better ? "more" : "less"),
         kNoteSize, "soft", 3);
  }

  // Of the kinds that are there.
  void legend() {
    double x = kEdge;
    y_ += 8;
    for (const BarStyle& style : kStyles) {
      const bool there = std::ranges::any_of(chart_.groups, [&](const BarGroup& group) {
        return std::ranges::any_of(group.bars,
                                   [&](const Bar& bar) { return bar.value && bar.kind == style.kind; });
      });
      if (!there) continue;
      const double width = 22 + text_width(style.legend, kNoteSize) + 10;
      if (x > kEdge && x + width > kWidth - kEdge) {
        x = kEdge;
        y_ += 18;
      }
      body_ += fmt::format(
          "<rect class=\"{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"16\" height=\"12\"/><rect class=\"over\" "
          "x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"16\" height=\"12\" fill=\"url(#{3}-{0})\"/>"
          "<text class=\"soft\" x=\"{4:.1f}\" y=\"{5:.1f}\">{6}</text>\n",
          style.word, x, y_, chart_.id, x + 22, y_ + 10, style.legend);
      x += width;
    }
    y_ += 20;
  }

  std::string whole() const {
    return chart_svg(chart_.title, kWidth, y_,
                     fmt::format("</style>\n<defs>{}</defs>", bar_patterns(chart_.id)), body_);
  }

  const BarChart& chart_;
  std::string body_;
  double y_ = kEdge, top_ = 0;   // where we are, and where the bars begin
  double reserve_ = 40;          // right of the bars, for their values
  double plot_ = 0, scale_ = 1;  // width of the bars; pixels of one of the unit
  Ticks ticks_;
  bool measured_ = false;
};

}  // namespace

std::string bar_chart_svg(const BarChart& chart) { return ChartDrawing(chart).svg(); }

}  // namespace kiln
