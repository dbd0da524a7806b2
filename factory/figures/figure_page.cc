#include "factory/figures/figure_page.h"

#include <fmt/format.h>

#include "factory/base/quote.h"
#include "factory/figures/panel_tables.h"

namespace kiln {
namespace {

constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--line:#8886}
body{font:15px/1.45 system-ui,"DejaVu Sans",sans-serif;max-width:76rem;margin:1.5rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0 0 .5rem}h2{font-size:1.1rem;margin:2rem 0 .25rem;overflow-wrap:anywhere}
p{margin:.25rem 0;max-width:60rem;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:1rem;align-items:start}
figure{margin:0;border:1px solid var(--line);border-radius:.4rem;overflow:hidden}
figure svg{display:block;width:100%;height:auto;max-width:36rem;margin:auto}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.25rem 0 1rem;font-size:13px}
td,th{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{overflow-wrap:anywhere;min-width:10rem;max-width:22rem}
td{white-space:nowrap}td:first-child,td:nth-child(5){white-space:normal;min-width:11rem}
caption{text-align:left;font-weight:600;padding:.5rem 0 .25rem}
)";

constexpr std::string_view kHowToRead =
    "A bar is the median of the runs' medians over their steady steps; warm-up is left out. Whiskers and "
    "intervals hold the middle 95 % of 2,000 draws of runs, and of steps within them (hierarchical "
    "bootstrap): "
    "they are as wide as the runs differ. A comparison whose interval holds 1 is \"no difference\". A dashed "
    "bar is marked: its run was disturbed as its mark says. Pictures never mix units, hosts or numbers of "
    "threads.";

std::string row_html(const TableRow& row, std::string_view tag) {
  std::string html = "<tr>";
  for (const std::string& cell : row) html += fmt::format("<{0}>{1}</{0}>", tag, markup_text(cell));
  return html + "</tr>\n";
}

std::string table_html(const Panel& panel) {
  std::string html = fmt::format("<div class=\"wide\"><table><caption>{}</caption>\n", panel_title(panel));
  html += row_html(table_head(panel), "th");
  for (const PanelGroup& group : panel.groups)
    for (const PanelBar& bar : group.bars) html += row_html(table_row(panel, group, bar), "td");
  return html + "</table></div>\n";
}

// Panels of one set stand together.
std::string section_html(std::span<const Panel> panels) {
  const Circumstances& is = panels.front().set->circumstances;
  std::string html = fmt::format("<section>\n<h2>{}, {}: {}</h2>\n", markup_text(is.workload),
                                 markup_text(is.unit), markup_text(is.host));
  html += "<div class=\"figures\">\n";
  for (const Panel& panel : panels)
    html += fmt::format("<figure id=\"{}\">{}</figure>\n", panel.file, bar_chart_svg(chart_of(panel)));
  html += "</div>\n";
  for (const Panel& panel : panels) html += table_html(panel);
  return html + "</section>\n";
}

}  // namespace

std::string figure_page(std::span<const Panel> panels) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Measurements</title><style>{}</style></head><body>\n"
      "<h1>Measurements</h1>\n",
      kPageStyle);
  for (std::size_t first = 0; first < panels.size();) {
    std::size_t end = first;
    while (end < panels.size() && panels[end].set == panels[first].set) ++end;
    html += section_html(panels.subspan(first, end - first));
    first = end;
  }
  return html +
         fmt::format("<h2>How to read this</h2>\n<p>{}</p>\n</body></html>\n", markup_text(kHowToRead));
}

}  // namespace kiln
