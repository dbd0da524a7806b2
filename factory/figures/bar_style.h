// The colours and patterns of bars.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "factory/figures/bar_chart.h"

namespace kiln {

struct BarStyle {
  BarKind kind;
  std::string_view word;    // the class of its style, the end of its pattern's id
  std::string_view legend;  // for people
};

std::span<const BarStyle> bar_styles();
const BarStyle& style_of(BarKind kind);

// CSS of a chart, held to the elements of class "chart".
std::string_view chart_style();

// <pattern> elements, their ids begin with `id`.
std::string bar_patterns(std::string_view id);

}  // namespace kiln
