// A night as one page: HTML with its style and its pictures inside, which any browser shows from a file or
// as a CI system's artifact. No scripts, nothing is fetched. Pure.
#pragma once

#include <string>
#include <vector>

#include "night/night.h"

namespace kiln {

// `before`: the nights before it that are kept, oldest first.
std::string night_html(const NightReport& report, const std::vector<NightReport>& before);

// Text as it stands in HTML and in its attributes, without controls.
std::string html_text(std::string_view text);

}  // namespace kiln
