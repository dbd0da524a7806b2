// A night in words, for a terminal and for notices, as a JUnit report and as a page. Pure.
#pragma once

#include <span>
#include <string>

#include "factory/night/night.h"

namespace kiln {

// "demo, night 12: red: 31 of 34 images good, 2 failed, 1 not reached".
std::string night_title(const NightReport& report);
// The title, and for each actor the first cause: "…; site must act: registry.site:5000: 401 Unauthorized".
std::string night_headline(const NightReport& report);

// "registry.site:5000: cannot push …: 401 Unauthorized; site: renew the login of kiln at registry.site:5000".
std::string trouble_text(const NightTrouble& trouble);

// A sentence on one image, with the party that must act: "recipe: exit status 1 …; look at the end of its
// log".
std::string verdict_text(const NightImage& image);

// "3 failures, all with compiler=tvm: exit status 1: …".
std::string failure_text(const FailureGroup& group);
// How they are taken out of the matrix: `an exclude for them: {"compiler":"tvm"}`, a line each.
std::vector<std::string> remedy_lines(const FailureGroup& group);

// "12 steps run here, 30 fetched from other builders".
std::string steps_text(const NightReport& report);

// "gate 'frameworks' is closed: 2 of 12 images are missing: …".
std::string gate_text(const GateJob& job);

// "pytorch:2.6.0-…: seconds 120.0 → 240.0 (+100 %) since night 9".
std::string trend_text(const Trend& trend);

// The text for a terminal: failures with the party that must act, then changes. Ends with the headline.
std::string night_text(const NightReport& report);

// As a JUnit report (report/junit.h): a case for each image, each gate, each trouble and the night. With a
// newline at its end.
std::string night_junit(const NightReport& report);

// The pictures of a night's page, as SVG: how the last nights went, and a series with its levels.

// A bar a night, oldest first: its height says how many images were good, its colour how it ended.
std::string nights_svg(std::span<const PastNight> nights);

// The values of a trend's series in these nights, oldest first, as a line with a mark where it changed; ""
// for fewer than two values.
std::string trend_svg(const Trend& trend, std::span<const PastNight> nights);

// One page: HTML with its style and its pictures inside, which any browser shows from a file or as a CI
// system's artifact. No scripts, nothing is fetched. `nights`: those that are looked back on, oldest first,
// and the report's own at the end.
std::string night_html(const NightReport& report, std::span<const PastNight> nights);

}  // namespace kiln
