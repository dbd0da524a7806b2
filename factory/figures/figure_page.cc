#include "factory/figures/figure_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "factory/base/median.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/bench/csv_rows.h"
#include "factory/figures/chart_text.h"

namespace kiln {
namespace {

// The median of the runs' first steps, 0 where none has one.
double first_step(const MeasuredImage& image) {
  std::vector<double> firsts;
  for (const BenchRun& run : image.runs)
    if (run.first) firsts.push_back(*run.first);
  return firsts.empty() ? 0 : median_of(firsts);
}

double peak_memory(const MeasuredImage& image) {
  std::uint64_t most = 0;
  for (const BenchRun& run : image.runs) most = std::max(most, run.peak_memory);
  return static_cast<double>(most);
}

std::size_t steady_steps(const MeasuredImage& image) {
  return std::accumulate(image.runs.begin(), image.runs.end(), std::size_t{0},
                         [](std::size_t sum, const BenchRun& run) { return sum + run.steady().size(); });
}

// What the last run proved: "loss falls: 2.1".
std::string result_text(const MeasuredImage& image) {
  const Json& output = image.runs.back().output;
  auto result = output.find("result");
  if (result == output.end() || !result->is_object()) return "";
  std::string text;
  if (auto what = result->find("what"); what != result->end() && what->is_string())
    text = what->get<std::string>();
  if (auto value = result->find("value"); value != result->end() && value->is_number())
    text += (text.empty() ? "" : ": ") + fmt::format("{:.4g}", value->get<double>());
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, "; "));
}

// A cell of a table in Markdown: one line, and nothing that a reader of it would take for its own.
std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (char c : without_controls(text)) {
    if (std::string_view("|<*_`[]\\").find(c) != std::string_view::npos) cell += '\\';
    cell += c == '\n' || c == '\t' ? ' ' : c;
  }
  return cell;
}

std::string markdown_row(const TableRow& row) {
  std::string line = "|";
  for (const std::string& cell : row) line += cell.empty() ? " |" : " " + markdown_cell(cell) + " |";
  return line + "\n";
}

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields)
    row += (row.empty() ? "" : ",") + csv_field(without_controls(field));
  return row + "\r\n";
}

std::string full(double value) { return fmt::format("{:.9g}", value); }
std::string full_or_nothing(double value) { return value > 0 ? full(value) : ""; }

std::vector<std::string> csv_numbers(const PanelBar& bar) {
  if (bar.image == nullptr) return {"", "", "", "", "", "", "", "", "", "", "", "", "", "not measured"};
  const MeasuredImage& image = *bar.image;
  const bool compared = bar.comparison.has_value();
  return {image.name,
          full(image.speed.value),
          full(image.speed.low),
          full(image.speed.high),
          compared ? full(bar.comparison->ratio) : "",
          compared ? full(bar.comparison->low) : "",
          compared ? full(bar.comparison->high) : "",
          bar.against,
          full_or_nothing(first_step(image)),
          full_or_nothing(peak_memory(image)),
          std::to_string(image.runs.size()),
          std::to_string(steady_steps(image)),
          image.runs.back().taken,
          joined(image.marks)};
}

Json image_json(const MeasuredImage& image) {
  Json json = {{"name", image.name},
               {"framework", image.axes.framework},
               {"version", image.axes.version},
               {"method", image.axes.method},
               {"target", image.axes.target},
               {"compilers", image.axes.compilers},
               {"runtimes", image.axes.runtimes},
               {"stock", image.stock},
               {"ranks", image.ranks},
               {"runs", image.runs.size()},
               {"steps", steady_steps(image)},
               {"median", image.speed.value},
               {"low", image.speed.low},
               {"high", image.speed.high},
               {"taken", image.runs.back().taken},
               {"session", image.sessions.back().session.id},
               {"marks", image.marks}};
  if (const double first = first_step(image); first > 0) json["first"] = first;
  if (const double bytes = peak_memory(image); bytes > 0) json["peak_memory"] = bytes;
  return json;
}

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

TableRow table_head(const Panel& panel) {
  const std::string& unit = panel.set->circumstances.unit;
  return {"image",      unit,          "95 % interval", "marks", "compared",
          "first step", "peak memory", "result",        "runs",  "last run"};
}

TableRow table_row(const Panel& panel, const PanelGroup& group, const PanelBar& bar) {
  const std::string name = group.title.empty() ? bar.label : group.title + ": " + bar.label;
  if (bar.image == nullptr) return {name, "not measured", "", "", note_of(bar), "", "", "", "", ""};
  const MeasuredImage& image = *bar.image;
  const std::string& unit = panel.set->circumstances.unit;
  const double first = first_step(image);
  const std::string first_unit = more_is_better(unit) ? "" : unit.substr(0, unit.find('/'));
  return {name,
          number_text(image.speed.value),
          fmt::format("{} to {}", number_text(image.speed.low), number_text(image.speed.high)),
          joined(image.marks),
          note_of(bar),
          first > 0 ? number_text(first) + (first_unit.empty() ? "" : " " + first_unit) : "",
          memory_text(peak_memory(image)),
          result_text(image),
          fmt::format("{} of {}", image.runs.size(), counted(steady_steps(image), "step")),
          image.runs.back().taken.substr(0, 10)};
}

std::string panel_markdown(const Panel& panel) {
  std::string text = markdown_row(table_head(panel)) + "|";
  for (std::size_t i = 0; i < TableRow().size(); ++i) text += "---|";
  text += "\n";
  for (const PanelGroup& group : panel.groups)
    for (const PanelBar& bar : group.bars) text += markdown_row(table_row(panel, group, bar));
  return text;
}

std::string panels_markdown(std::span<const Panel> panels) {
  std::string text;
  for (const Panel& panel : panels) {
    if (!text.empty()) text += "\n";
    text += fmt::format("## {}\n\n", panel_title(panel));
    for (const std::string& line : circumstance_lines(*panel.set)) text += markdown_cell(line) + "  \n";
    text += "\n" + panel_markdown(panel);
  }
  return text;
}

std::string panels_csv(std::span<const Panel> panels) {
  std::string text = csv_row({"figure",      "workload",   "batch",   "input",      "host",
                              "accelerator", "threads",    "unit",    "group",      "bar",
                              "image",       "median",     "low",     "high",       "times_as_fast",
                              "times_low",   "times_high", "against", "first_step", "peak_memory_bytes",
                              "runs",        "steps",      "taken",   "marks"});
  for (const Panel& panel : panels) {
    const Circumstances& is = panel.set->circumstances;
    for (const PanelGroup& group : panel.groups)
      for (const PanelBar& bar : group.bars) {
        std::vector<std::string> fields = {std::string(name_of(panel.kind)),
                                           is.workload,
                                           is.batch,
                                           is.input,
                                           is.host,
                                           is.accelerator,
                                           is.threads > 0 ? std::to_string(is.threads) : "",
                                           is.unit,
                                           group.title,
                                           bar.label};
        for (std::string& field : csv_numbers(bar)) fields.push_back(std::move(field));
        text += csv_row(fields);
      }
  }
  return text;
}

Json sets_json(std::span<const MeasuredSet> sets) {
  Json all = Json::array();
  for (const MeasuredSet& set : sets) {
    const Circumstances& is = set.circumstances;
    Json json = {{"workload", is.workload}, {"unit", is.unit},
                 {"host", is.host},         {"accelerator", is.accelerator},
                 {"threads", is.threads},   {"batch", is.batch},
                 {"input", is.input},       {"from", set.first_day},
                 {"to", set.last_day},      {"kiln", set.versions},
                 {"images", Json::array()}, {"comparisons", Json::array()}};
    for (std::size_t a = 0; a < set.images.size(); ++a) {
      json["images"].push_back(image_json(set.images[a]));
      for (std::size_t b = a + 1; b < set.images.size(); ++b) {
        if (set.images[a].axes.framework != set.images[b].axes.framework) continue;
        if (const auto one = compare_images(set.images[a], set.images[b]))
          json["comparisons"].push_back(
              {{"a", a}, {"b", b}, {"ratio", one->ratio}, {"low", one->low}, {"high", one->high}});
      }
    }
    all.push_back(std::move(json));
  }
  return all;
}

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
