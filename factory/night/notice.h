// What is told to people, and when: on a change of state, not every night. Pure.
#pragma once

#include <string>

#include "factory/night/night.h"

namespace kiln {

// What somebody was told of last.
struct Told {
  std::string state;                 // as name_of(NightState); "" = nobody was ever told
  std::vector<std::string> failing;  // names, sorted
};
Told told_of(const NightReport& report);
bool is_news(const NightReport& report, const Told& before);

// For a webhook or a command: {"text", "matrix", "night", "state", "before", "failing", "newly_failing",
// "mended"}. `text` is what Slack, Mattermost and Rocket.Chat show of it.
Json notice_json(const NightReport& report, const Told& before);

Json to_json(const Told& told);
Told told_from_json(const JsonNode& node);

}  // namespace kiln
