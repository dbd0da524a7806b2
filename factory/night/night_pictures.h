// The pictures of a night's page, as SVG: how the last nights went, and a series with its levels. Pure.
#pragma once

#include <span>
#include <string>

#include "factory/night/past_night.h"

namespace kiln {

// A bar a night, oldest first: its height says how many images were good, its colour how it ended.
std::string nights_svg(std::span<const PastNight> nights);

// The values of a trend's series in these nights, oldest first, as a line with a mark where it changed; ""
// for fewer than two values.
std::string trend_svg(const Trend& trend, std::span<const PastNight> nights);

}  // namespace kiln
