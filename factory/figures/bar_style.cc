#include "factory/figures/bar_style.h"

#include <fmt/format.h>

#include <array>

namespace kiln {
namespace {

constexpr std::array kStyles = {
    BarStyle{BarKind::stock, "stock", "stock: as the project publishes it"},
    BarStyle{BarKind::built, "built", "other components than stock"},
    BarStyle{BarKind::compiled, "compiled", "with a graph compiler"},
};

// Blue, orange and bluish green of Okabe and Ito (Color Universal Design, 2008); of grey print they are a
// dark, a light and a middle tone, and two of them have a pattern.
constexpr std::string_view kChartStyle = R"(
.chart text{font-family:system-ui,"DejaVu Sans",sans-serif;fill:#1a1a1a;stroke:#fff;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.chart .title{font-size:15px;font-weight:600}.chart .group{font-size:13px;font-weight:600}
.chart .label{font-size:12.5px}.chart .soft{font-size:11px;fill:#555}.chart .mark{font-size:11px;font-weight:600}
.chart .value{font-size:11px;font-weight:600}.chart .tick{font-size:11px;fill:#555;text-anchor:middle}
.chart .tick.first{text-anchor:start}.chart .paper{fill:#fff}
.chart .stock{fill:#0072b2}.chart .built{fill:#e69f00}.chart .compiled{fill:#009e73}
.chart .marked{stroke:#1a1a1a;stroke-width:1.5;stroke-dasharray:4 3}
.chart .line{stroke:#ddd}.chart .zero{stroke:#555}
.chart .gap{fill:none;stroke:#777;stroke-dasharray:3 3}
.chart .whisker{stroke:#000;stroke-width:1.5;fill:none}.chart .halo{stroke:#fff;stroke-width:4;fill:none}
@media (prefers-color-scheme:dark){.chart text{fill:#eee;stroke:#16181d}.chart .soft,.chart .tick{fill:#bbb}
.chart .paper{fill:#16181d}.chart .line{stroke:#3a3d44}.chart .zero{stroke:#bbb}.chart .gap{stroke:#999}
.chart .stock{fill:#56b4e9}.chart .marked{stroke:#eee}}
@media print{.chart text{fill:#1a1a1a;stroke:#fff}.chart .soft,.chart .tick{fill:#555}.chart .paper{fill:#fff}}
)";

}  // namespace

std::span<const BarStyle> bar_styles() { return kStyles; }

const BarStyle& style_of(BarKind kind) { return kStyles[static_cast<std::size_t>(kind)]; }

std::string_view chart_style() { return kChartStyle; }

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

}  // namespace kiln
