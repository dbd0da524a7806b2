// Nights and images for the tests of factory/night.
#pragma once

#include "factory/night/night.h"

namespace kiln::testing {

inline NightImage night_image(const std::string& cell, Verdict verdict,
                              std::map<std::string, std::string> axes = {}) {
  NightImage image;
  image.cell = cell;
  image.name = cell + ":1";
  image.axes = std::move(axes);
  image.verdict = verdict;
  return image;
}

inline NightImage failed_image(const std::string& cell, const std::string& what,
                               std::map<std::string, std::string> axes = {}, const std::string& step = "") {
  NightImage image = night_image(cell, Verdict::failed, std::move(axes));
  image.what = what;
  image.step = step;
  image.failing_since = 1;
  return image;
}

inline NightReport night_report(std::int64_t number, std::vector<NightImage> images,
                                NightState state = NightState::green) {
  NightReport report;
  report.matrix = "demo";
  report.number = number;
  report.started = 1'700'000'000 + number * 86'400;
  report.ended = report.started + 3600;
  report.state = state;
  report.images = std::move(images);
  return report;
}

}  // namespace kiln::testing
