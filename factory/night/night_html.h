// A night as one page: HTML with its style and its pictures inside, which any browser shows from a file or
// as a CI system's artifact. No scripts, nothing is fetched. Pure.
#pragma once

#include <span>
#include <string>

#include "factory/night/past_night.h"

namespace kiln {

// `nights`: those that are looked back on, oldest first, and the report's own at the end.
std::string night_html(const NightReport& report, std::span<const PastNight> nights);

}  // namespace kiln
