// A night as one page: HTML with its style and its pictures inside, which any browser shows from a file or
// as a CI system's artifact. No scripts, nothing is fetched. Pure.
#pragma once

#include <span>
#include <string>

#include "factory/night/night.h"

namespace kiln {

// The pictures of a night's page, as SVG: how the last nights went, and a series with its levels. Pure.

// A bar a night, oldest first: its height says how many images were good, its colour how it ended.
std::string nights_svg(std::span<const PastNight> nights);

// The values of a trend's series in these nights, oldest first, as a line with a mark where it changed; ""
// for fewer than two values.
std::string trend_svg(const Trend& trend, std::span<const PastNight> nights);

// `nights`: those that are looked back on, oldest first, and the report's own at the end.
std::string night_html(const NightReport& report, std::span<const PastNight> nights);

}  // namespace kiln
