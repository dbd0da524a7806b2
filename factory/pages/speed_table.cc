#include "factory/pages/speed_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "registry/select/comparable.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

constexpr std::size_t kMostRows = 12;  // of a table: the fastest, and the image itself
constexpr double kWidth = 240, kHeight = 20;

bool is_faster(const Measurement& a, const Measurement& b) {
  if (a.median == b.median) return false;
  return direction_of(a.unit) == Direction::more ? a.median > b.median : a.median < b.median;
}

// A bar to the median, with whiskers from the first quartile to the third. Colours come from the style sheet.
std::string bar_svg(const Measurement& speed, double most, bool own) {
  const double scale = (kWidth - 4) / most, low = 1 + speed.low * scale, high = 1 + speed.high * scale;
  return fmt::format(
      "<svg class=\"bar{5}\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\" "
      "focusable=\"false\"><rect class=\"fill\" x=\"1\" y=\"3\" width=\"{2:.1f}\" height=\"14\" rx=\"2\"/>"
      "<path class=\"whisker\" d=\"M{3:.1f} 10H{4:.1f}M{3:.1f} 5v10M{4:.1f} 5v10\"/></svg>",
      kWidth, kHeight, std::max(1.0, speed.median * scale), low, high, own ? " own" : "");
}

std::string number_words(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

struct SpeedRow {
  const IndexEntry* entry;
  const Measurement* speed;
  bool own;
  std::string up;    // from the page to the folder of all
  std::string gain;  // over the image of the page
};

std::string row_html(const SpeedRow& row, double most, const PageNames& names) {
  const std::string name = markup_text(names(row.entry->image)), doubt = doubt_about(*row.speed);
  return fmt::format(
      "<tr{}><th scope=\"row\">{}</th><td class=\"plot\">{}</td><td class=\"number\">{}</td><td "
      "class=\"number\">{} to {}</td><td>{}</td><td class=\"number\">{}</td><td><span "
      "class=\"value\">{}</span>{}</td></tr>\n",
      row.own ? " class=\"own\"" : "",
      row.own ? fmt::format("<bdi>{}</bdi> <span class=\"badge\">this image</span>", name)
              : fmt::format("<a href=\"{}{}\"><bdi>{}</bdi></a>", row.up, image_path(row.entry->image), name),
      bar_svg(*row.speed, most, row.own), number_words(row.speed->median), number_words(row.speed->low),
      number_words(row.speed->high), row.gain, row.speed->samples,
      markup_text(row.speed->taken.substr(0, 10)),
      doubt.empty() ? "" : fmt::format("<br><span class=\"doubt\">{}</span>", markup_text(doubt)));
}

// The fastest, and the image itself wherever it stands.
std::vector<SpeedRow> rows_of(const SpeedConditions& place, const std::vector<std::size_t>& numbers,
                              std::size_t own, const std::vector<IndexEntry>& entries) {
  const std::string up = way_up(image_path(entries[own].image));
  std::vector<SpeedRow> rows;
  for (std::size_t number : numbers) {
    if (number != own && rows.size() >= kMostRows) continue;
    const auto speeds = latest_speeds(entries[number]);
    const Measurement& speed = *speeds.at(place);
    const auto gain = gain_over(entries[number].measurements, entries[own].measurements, speed);
    rows.push_back({&entries[number], &speed, number == own, up,
                    number == own ? ""
                    : gain        ? gain_text(gain->gain)
                                  : "not measured in turns"});
  }
  return rows;
}

// Of the image of the page.
std::string over_stock_html(const std::vector<SpeedRow>& rows) {
  for (const SpeedRow& row : rows) {
    if (!row.own) continue;
    if (row.speed->stock) return "<p class=\"soft\">This is the stock image.</p>\n";
    const std::string_view word = stock_gain_word(stock_gain(*row.speed));
    return row.speed->over_stock ? fmt::format("<p>Gain over stock: <strong>{}</strong>, {} in {}.</p>\n",
                                               word, gain_text(*row.speed->over_stock),
                                               counted(static_cast<std::size_t>(row.speed->rounds), "round"))
                                 : fmt::format("<p class=\"soft\">Gain over stock: {}.</p>\n", word);
  }
  return "";
}

std::string place_html(const SpeedConditions& place, const std::vector<SpeedRow>& rows, std::size_t all,
                       const PageNames& names) {
  double most = 0;
  for (const SpeedRow& row : rows) most = std::max({most, row.speed->median, row.speed->high});
  if (most <= 0) return "";
  std::string body;
  for (const SpeedRow& row : rows) body += row_html(row, most, names);
  const Direction direction = direction_of(place.unit);
  const std::string better = direction == Direction::more   ? ", more is better"
                             : direction == Direction::less ? ", less is better"
                                                            : "";
  std::string html = fmt::format("<h3>{}, {}{}</h3>\n<p class=\"soft\">{}</p>\n", markup_text(place.workload),
                                 markup_text(place.unit), better, markup_text(place.host));
  html += over_stock_html(rows);
  html += wide_table(
      fmt::format("Speeds of {} on {}", markup_text(place.workload), markup_text(place.host)),
      {"Image", "<span class=\"unseen\">Picture</span>", fmt::format("Median, {}", markup_text(place.unit)),
       "Quartiles", "Against this image", "Samples", "Taken"},
      body);
  if (all > rows.size())
    html += fmt::format("<p class=\"soft\">{} more were measured here.</p>\n", all - rows.size());
  return html;
}

}  // namespace

std::string host_words(const HostDescription& host) {
  std::string words = host.model.empty() ? host.cpu : host.model;
  if (host.cores > 0) words += (words.empty() ? "" : ", ") + counted(host.cores, "processor");
  for (const std::string& accelerator : host.accelerators) words += ", " + accelerator;
  return words.empty() ? "a host without a description" : words;
}

std::map<SpeedConditions, const Measurement*> latest_speeds(const IndexEntry& entry) {
  std::map<SpeedConditions, const Measurement*> latest;
  for (const Measurement& speed : entry.measurements)  // by their time
    latest[{lower_case(entry.image.application), speed.workload, speed.unit, host_words(speed.host)}] =
        &speed;
  return latest;
}

SpeedTable::SpeedTable(const std::vector<IndexEntry>& entries) {
  for (std::size_t number = 0; number < entries.size(); ++number)
    for (const auto& [place, speed] : latest_speeds(entries[number])) places_[place].push_back(number);
  for (auto& [place, numbers] : places_) {
    std::map<std::size_t, const Measurement*> speeds;
    for (std::size_t number : numbers) speeds[number] = latest_speeds(entries[number]).at(place);
    std::ranges::stable_sort(
        numbers, [&speeds](std::size_t a, std::size_t b) { return is_faster(*speeds.at(a), *speeds.at(b)); });
  }
}

std::string SpeedTable::html(std::size_t number, const std::vector<IndexEntry>& entries,
                             const PageNames& names) const {
  std::string html;
  for (const auto& [place, speed] : latest_speeds(entries[number])) {
    const std::vector<std::size_t>& numbers = places_.at(place);
    html += place_html(place, rows_of(place, numbers, number, entries), numbers.size(), names);
  }
  if (html.empty()) return "";
  return "<p>A bar is the median of the samples, its whiskers are their quartiles. Measurements under other "
         "circumstances are in another table.</p>\n" +
         html;
}

}  // namespace kiln
