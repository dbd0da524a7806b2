#include "night/night_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "night/night_html.h"

namespace kiln {
namespace {

constexpr int kBar = 14;                // pixels, with the gap
constexpr int kHeight = 60;             // of the nights
constexpr int kWide = 160, kHigh = 32;  // of a series

std::size_t count_good(const NightReport& night) {
  return static_cast<std::size_t>(
      std::count_if(night.images.begin(), night.images.end(),
                    [](const NightImage& image) { return is_good(image.verdict); }));
}

// Of the series in one night; nullopt: it has added none.
std::optional<double> value_in(const NightReport& night, const Trend& trend) {
  for (const NightImage& image : night.images) {
    if (image.name != trend.name) continue;
    const bool was_built = image.verdict == Verdict::built || image.verdict == Verdict::mended;
    if (trend.what == "seconds") return was_built ? std::optional(image.seconds) : std::nullopt;
    if (trend.what == "bytes")
      return was_built ? std::optional(static_cast<double>(image.bytes)) : std::nullopt;
    auto speed = image.speeds.find(trend.what);
    return speed == image.speeds.end() ? std::nullopt : std::optional(speed->second);
  }
  return std::nullopt;
}

}  // namespace

std::string nights_svg(std::span<const NightReport* const> nights) {
  std::size_t most = 1;
  for (const NightReport* night : nights) most = std::max(most, night->images.size());
  std::string svg = fmt::format(
      "<svg class=\"nights\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"the last {} nights\">",
      static_cast<int>(nights.size()) * kBar, kHeight, nights.size());
  int left = 0;
  for (const NightReport* night : nights) {
    const std::size_t good = count_good(*night);
    const double share = static_cast<double>(kHeight - 4) / static_cast<double>(most);
    const double all = std::max(2.0, share * static_cast<double>(night->images.size()));
    const double high = std::max(2.0, share * static_cast<double>(good));
    svg += fmt::format(
        "<g><title>night {}: {}, {} of {} good</title>"
        "<rect class=\"all\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>"
        "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/></g>",
        night->number, name_of(night->state), good, night->images.size(), left, kHeight - all, kBar - 2, all,
        name_of(night->state), left, kHeight - high, kBar - 2, high);
    left += kBar;
  }
  return svg + "</svg>";
}

std::string trend_svg(const Trend& trend, std::span<const NightReport* const> nights) {
  std::vector<double> values;
  std::optional<std::size_t> changed;
  for (const NightReport* night : nights) {
    const auto value = value_in(*night, trend);
    if (!value) continue;
    if (night->number == trend.night) changed = values.size();
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
      kWide, kHigh, html_text(trend.what), points);
  if (changed)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", x(*changed), y(values[*changed]));
  return svg + "</svg>";
}

}  // namespace kiln
