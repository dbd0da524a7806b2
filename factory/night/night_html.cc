#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/quote.h"
#include "factory/night/night_text.h"

namespace kiln {
namespace {

constexpr int kBar = 14;                // pixels, with the gap
constexpr int kHeight = 60;             // of the nights
constexpr int kWide = 160, kHigh = 32;  // of a series

// Of the series in one night; nullopt: it has added none.
std::optional<double> value_in(const PastNight& night, const Trend& trend) {
  auto image =
      std::ranges::find_if(night.values, [&](const PastValues& one) { return one.name == trend.name; });
  if (image == night.values.end()) return std::nullopt;
  auto speed = image->speeds.find(trend.what);
  const double value = trend.what == "seconds"        ? image->seconds
                       : trend.what == "bytes"        ? image->bytes
                       : speed != image->speeds.end() ? speed->second
                                                      : 0;
  return value > 0 ? std::optional(value) : std::nullopt;
}

constexpr std::size_t kNightsShown = 60;

// Colours of states are told apart by those who see no red and green, too: each has its word beside it.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--line:#8886;--soft:#8882;--good:#23784a;--bad:#c4432b;--wait:#8f5c10;--off:#666b73;--muted:#5f646c}
@media (prefers-color-scheme:dark){:root{--muted:#a4a9b1}}
body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;background:Canvas;color:CanvasText}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}code,pre,.name{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.6rem;overflow:auto;max-height:24rem;white-space:pre-wrap}
.state{display:inline-block;padding:.1rem .6rem;border-radius:1rem;color:#fff;font-weight:600}
.green{background:var(--good);fill:var(--good)}.red{background:var(--bad);fill:var(--bad)}
.held{background:var(--wait);fill:var(--wait)}.interrupted{background:var(--off);fill:var(--off)}
.all{fill:var(--soft)}.series polyline{fill:none;stroke:currentColor;stroke-width:1.5}.series circle{fill:var(--bad)}
.muted{color:var(--muted)}summary{cursor:pointer}summary h2{display:inline}
)";

std::string list_of(const std::vector<std::string>& lines) {
  std::string html = "<ul>";
  for (const std::string& line : lines) html += "<li>" + markup_text(line) + "</li>";
  return html + "</ul>\n";
}

void add_list(std::string& html, std::string_view title, const std::vector<std::string>& lines) {
  if (!lines.empty()) html += fmt::format("<h2>{}</h2>\n{}", title, list_of(lines));
}

std::string time_text(std::int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string head(const NightReport& report, std::span<const PastNight> nights) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{}</title><style>{}</style></head><body><main>\n"
      "<h1>{} <span class=\"state {}\">{}</span></h1>\n<p>{}</p>\n<p class=\"muted\">night {}, {}, {} on "
      "{}; ",
      markup_text(night_title(report)), kStyle, markup_text(report.matrix), name_of(report.state),
      name_of(report.state), markup_text(night_headline(report)), report.number, rfc3339(report.started),
      time_text(report.ended - report.started), markup_text(report.host));
  if (report.snapshot == 0)
    html += "nothing is published";
  else
    html += fmt::format("snapshot {} {}", report.snapshot, report.is_new_snapshot ? "is new" : "stays");
  if (report.state != NightState::green)
    html += report.last_green == 0
                ? "; no night was green before"
                : fmt::format("; the last green night ended {} ago ({})",
                              time_text(report.ended - report.last_green), rfc3339(report.last_green));
  return html + "</p>\n" + (nights.size() > 1 ? nights_svg(nights) : "") + "\n";
}

// An operator must find the actor at once: what concerns the whole night stands first.
std::string trouble_row(const NightTrouble& trouble, std::int64_t night) {
  NightTrouble words = trouble;
  words.advice.clear();
  return fmt::format("<tr><td>the night</td><td>{}{}</td><td><strong>{}</strong>{}</td></tr>\n",
                     markup_text(trouble_text(words)),
                     trouble.since > 0 && trouble.since < night
                         ? fmt::format("<div class=\"muted\">since night {}</div>", trouble.since)
                         : "",
                     name_of(trouble.actor),
                     trouble.advice.empty() ? "" : ": " + markup_text(trouble.advice));
}

std::string failures(const NightReport& report) {
  if (report.failures.empty() && report.troubles.empty()) return "";
  std::string html = "<h2>Causes</h2>\n<table><tr><th>images</th><th>cause</th><th>who acts</th></tr>\n";
  for (const NightTrouble& trouble : report.troubles) html += trouble_row(trouble, report.number);
  for (const FailureGroup& group : report.failures) {
    std::string excludes;
    for (const std::string& line : remedy_lines(group)) excludes += markup_text(line) + "\n";
    if (!excludes.empty())
      excludes = "<details><summary>to take them out</summary><pre>" + excludes + "</pre></details>";
    html += fmt::format(
        "<tr><td>{}</td><td>{}{}<details><summary>cells</summary>{}</details></td><td>{}</td></tr>\n",
        group.cells.size(), markup_text(failure_text(group)), excludes, list_of(group.cells),
        name_of(group.actor));
  }
  return html + "</table>\n";
}

std::string image_row(const NightImage& image, std::int64_t night) {
  std::string more;
  if (!image.why.empty()) more += list_of(image.why);
  if (image.failing_since > 0 && image.failing_since < night)
    more += fmt::format("<div class=\"muted\">since night {}</div>", image.failing_since);
  if (!image.end_of_log.empty())
    more += fmt::format("<details><summary>end of {}</summary><pre>{}</pre></details>",
                        markup_text(image.log), markup_text(image.end_of_log));
  return fmt::format("<tr><td class=\"name\">{}</td><td>{}{}</td><td>{}</td><td>{}</td></tr>\n",
                     markup_text(image.name), markup_text(verdict_text(image)), more,
                     image.seconds > 0 ? fmt::format("{:.1f} s", image.seconds) : "",
                     image.bytes > 0 ? fmt::format("{:.1f} MB", static_cast<double>(image.bytes) / 1e6) : "");
}

// Images that need an action are shown open, the others folded.
std::string images(const NightReport& report, std::string_view title, bool open,
                   bool (*is_wanted)(Verdict verdict)) {
  std::string rows;
  std::size_t count = 0;
  for (const NightImage& image : report.images) {
    if (!is_wanted(image.verdict)) continue;
    rows += image_row(image, report.number);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format(
      "<details{}><summary><h2>{} ({})</h2></summary>\n"
      "<table><tr><th>image</th><th>verdict</th><th>time</th><th>size</th></tr>\n{}</table></details>\n",
      open ? " open" : "", title, count, rows);
}

std::string trends(const NightReport& report, std::span<const PastNight> nights) {
  if (report.trends.empty()) return "";
  std::string html = "<h2>Changed against the nights before</h2>\n<table>\n";
  for (const Trend& trend : report.trends)
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", markup_text(trend_text(trend)),
                        trend_svg(trend, nights));
  return html + "</table>\n";
}

}  // namespace

std::string nights_svg(std::span<const PastNight> nights) {
  std::size_t most = 1;
  for (const PastNight& night : nights) most = std::max(most, night.images);
  std::string svg = fmt::format(
      "<svg class=\"nights\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"the last {} nights\">",
      static_cast<int>(nights.size()) * kBar, kHeight, nights.size());
  int left = 0;
  for (const PastNight& night : nights) {
    const double share = static_cast<double>(kHeight - 4) / static_cast<double>(most);
    const double all = std::max(2.0, share * static_cast<double>(night.images));
    const double high = std::max(2.0, share * static_cast<double>(night.good));
    svg += fmt::format(
        "<g><title>night {}: {}, {} of {} good</title>"
        "<rect class=\"all\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>"
        "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/></g>",
        night.number, name_of(night.state), night.good, night.images, left, kHeight - all, kBar - 2, all,
        name_of(night.state), left, kHeight - high, kBar - 2, high);
    left += kBar;
  }
  return svg + "</svg>";
}

std::string trend_svg(const Trend& trend, std::span<const PastNight> nights) {
  std::vector<double> values;
  std::optional<std::size_t> changed;
  for (const PastNight& night : nights) {
    const auto value = value_in(night, trend);
    if (!value) continue;
    if (night.number == trend.night) changed = values.size();
    values.push_back(*value);
  }
  if (values.size() < 2) return "";
  const double least = *std::ranges::min_element(values);
  const double most = *std::ranges::max_element(values);
  const double range = most > least ? most - least : 1;
  auto x = [&](std::size_t i) {
    return 3 +
           static_cast<double>(kWide - 6) * static_cast<double>(i) / static_cast<double>(values.size() - 1);
  };
  auto y = [&](double value) { return kHigh - 3 - (kHigh - 6) * (value - least) / range; };
  std::string points;
  for (std::size_t i = 0; i < values.size(); ++i) points += fmt::format("{:.1f},{:.1f} ", x(i), y(values[i]));
  std::string svg = fmt::format(
      "<svg class=\"series\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\">"
      "<polyline points=\"{}\"/>",
      kWide, kHigh, markup_text(trend.what), points);
  if (changed)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", x(*changed), y(values[*changed]));
  return svg + "</svg>";
}

std::string night_html(const NightReport& report, std::span<const PastNight> before_and_this) {
  const std::span<const PastNight> nights =
      before_and_this.last(std::min(kNightsShown, before_and_this.size()));
  std::string html = head(report, nights);
  html += failures(report);
  std::vector<std::string> gates;
  for (const GateJob& job : report.gate) gates.push_back(gate_text(job));
  add_list(html, "Gate", gates);
  add_list(html, "Remarks", report.remarks);
  add_list(html, "Warnings", report.warnings);
  html += images(report, "Not good", true, [](Verdict verdict) { return !is_good(verdict); });
  html += images(report, "Built", true,
                 [](Verdict verdict) { return is_good(verdict) && verdict != Verdict::unchanged; });
  html += trends(report, nights);
  add_list(html, "The lockfile was moved", report.lock.changes);
  add_list(html, "Moved upstream, and not counted yet", report.lock.held);
  add_list(html, "Newer versions to look at", report.lock.proposals);
  add_list(html, "Could not be asked", report.lock.problems);
  add_list(html, "Gone from the matrix", report.gone);
  html += images(report, "Unchanged", false, [](Verdict verdict) { return verdict == Verdict::unchanged; });
  std::vector<std::string> ends;
  if (report.steps_run + report.steps_fetched > 0) ends.push_back(steps_text(report));
  for (const std::string* line : {&report.registry, &report.collected})
    if (!line->empty()) ends.push_back(*line);
  add_list(html, "Published and collected", ends);
  return html + "</main></body></html>\n";
}

}  // namespace kiln
