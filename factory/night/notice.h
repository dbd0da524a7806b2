// Decides which notice people get, and when: on a change, not every night. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factory/night/night.h"

namespace kiln {

// The contents of the last notice.
struct SentNotice {
  std::string state;                 // as name_of(NightState); "" = there was no notice
  std::vector<std::string> failing;  // names, sorted
  // The reasons, sorted: each trouble of the night and each failing image, with the party that must act.
  // nullopt: written by a kiln that did not record it.
  std::optional<std::vector<std::string>> reasons;
  std::int64_t when = 0;  // seconds since 1970; 0 = not recorded
};
SentNotice notice_of(const NightReport& report);

enum class News {
  none,
  change,   // of the state, the failures, a reason, or the party that must act
  reminder  // nothing has changed since the last notice, and that is long ago
};
// `remind`: seconds after which kiln repeats the notice of a night that is not green; 0 = never.
News news_in(const NightReport& report, const SentNotice& before, std::int64_t remind);

// For a webhook or a command; docs/formats/files.md lists its members. `text` is what Slack, Mattermost and
// Rocket.Chat show of it. `page`: the path of report.html on the night's host.
Json notice_json(const NightReport& report, const SentNotice& before, const std::string& page,
                 News news = News::change);

Json to_json(const SentNotice& told);
SentNotice sent_notice_from_json(const JsonNode& node);

}  // namespace kiln
