#include "factory/night/night_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "factory/base/markup.h"

namespace kiln {
namespace {

constexpr int kBar = 14;                // pixels, with the gap
constexpr int kHeight = 60;             // of the nights
constexpr int kWide = 160, kHigh = 32;  // of a series

// Of the series in one night; nullopt: it has added none.
std::optional<double> value_in(const PastNight& night, const Trend& trend) {
  auto image = std::find_if(night.values.begin(), night.values.end(),
                            [&](const PastValues& one) { return one.name == trend.name; });
  if (image == night.values.end()) return std::nullopt;
  auto speed = image->speeds.find(trend.what);
  const double value = trend.what == "seconds"        ? image->seconds
                       : trend.what == "bytes"        ? image->bytes
                       : speed != image->speeds.end() ? speed->second
                                                      : 0;
  return value > 0 ? std::optional(value) : std::nullopt;
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
  const double least = *std::min_element(values.begin(), values.end());
  const double most = *std::max_element(values.begin(), values.end());
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

}  // namespace kiln
