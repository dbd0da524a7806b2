// What a report keeps of the nights before it: how they ended, and the values that series are made of. Their
// reports have thousands of images each, and a night looks back on many. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/night/night.h"

namespace kiln {

// What a night has added to the series of an image.
struct PastValues {
  std::string name;                      // of the image
  double seconds = 0;                    // 0: it was not built
  double bytes = 0;                      // so, too
  std::map<std::string, double> speeds;  // as NightImage has them
};

struct PastNight {
  std::int64_t number = 0, started = 0, ended = 0, last_green = 0, snapshot = 0;  // as NightReport has them
  NightState state = NightState::green;
  std::size_t images = 0, good = 0;
  std::int64_t every = -1;         // as NightReport has it
  std::string headline;            // night_headline()
  std::vector<PastValues> values;  // of the images that have any
};

PastNight past_of(const NightReport& report);

Json to_json(const PastNight& past);
PastNight past_night_from_json(const JsonNode& node);  // throws Error(input)

}  // namespace kiln
