// A bar chart as SVG: what is measured, how sure that is, and what was not measured. Pure.
//
// Bars lie, with their names above them, so that a long name has the whole width and stays inside. Colours
// are of Okabe and Ito's set, which readers can distinguish without red or green; each kind has a pattern as
// well, for grey print, and its word in the legend.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kiln {

// Kind of a bar's image.
enum class BarKind { stock, built, compiled };

// A value and what it may as well be, all in the chart's unit.
struct BarValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Bar {
  BarKind kind = BarKind::stock;
  std::string label;
  std::string title;               // all of its name, where the pointer rests
  std::optional<BarValue> value;   // nullopt: a gap
  std::string note;                // below the bar: what it is compared with, or why there is a gap
  std::vector<std::string> marks;  // the reason to doubt the value: "under load"
};

struct BarGroup {
  std::string title;  // above its bars; "" for none
  std::vector<Bar> bars{};
};

struct BarChart {
  std::string id;  // of [a-z0-9-]; no two of a page have the same
  std::string title;
  std::vector<std::string> lines;  // below the title: host, threads, date
  std::string unit;
  bool more_is_better = false;
  std::vector<BarGroup> groups{};
};

// One <svg> element with its style inside, `xmlns` and all: a file, or a part of a page. Light and dark as
// the reader's system has it. The same chart gives the same bytes.
std::string bar_chart_svg(const BarChart& chart);

}  // namespace kiln
