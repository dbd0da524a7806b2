#include "factory/app/night_watch.h"

#include <fmt/format.h>

#include "factory/base/effects.h"

namespace kiln {
namespace {

constexpr std::int64_t kClockSkew = 300;  // seconds that clocks of two machines may differ by

std::int64_t period_of(const NightWatch& watch, const NightSettings& settings) {
  const bool is_recorded = !watch.nights.empty() && watch.nights.back().every >= 0;
  if (settings.has_every || !is_recorded) return settings.every.count();
  return watch.nights.back().every;
}

std::string future_text(std::int64_t number, std::int64_t started, std::int64_t now) {
  if (started <= now + kClockSkew) return "";
  return fmt::format("night {} lies in the future: it began at {}, and it is {}; a clock is wrong", number,
                     rfc3339(started), rfc3339(now));
}

std::string text_of_begun(const NightWatch& watch, const NightSettings& settings, std::int64_t late) {
  const NightBegun& begun = *watch.begun;
  if (!is_running(watch, settings))
    return fmt::format("night {} was killed: it began at {}, and {} is gone", begun.number,
                       rfc3339(begun.started), begun.by);
  if (auto text = future_text(begun.number, begun.started, watch.now); !text.empty()) return text;
  if (late > 0 && watch.now - begun.started > late)
    return fmt::format("night {} runs for too long: it began at {}", begun.number, rfc3339(begun.started));
  return "";
}

}  // namespace

// Both texts come from this_process(), at two different times.
bool is_running(const NightWatch& watch, const NightSettings& settings) {
  if (!watch.begun || !watch.holder || watch.holder->silence > settings.lease) return false;
  const std::string process = watch.begun->by.substr(0, watch.begun->by.find(" since "));
  return watch.holder->holder.ends_with(" by " + process) ||
         watch.holder->holder.find(" by " + process + " since ") != std::string::npos;
}

std::string trouble_of(const NightWatch& watch, const NightSettings& settings) {
  const std::int64_t every = period_of(watch, settings);
  const std::int64_t late = every + every / 2;
  if (watch.begun)
    if (auto text = text_of_begun(watch, settings, late); !text.empty()) return text;
  if (watch.nights.empty()) return watch.damaged.empty() ? "no night has ended yet" : watch.damaged.front();
  const PastNight& last = watch.nights.back();
  if (auto text = future_text(last.number, last.started, watch.now); !text.empty()) return text;
  if (every > 0 && !watch.begun && watch.now - last.started > late)
    return fmt::format("overdue: the last night began at {}", rfc3339(last.started));
  if (last.state != NightState::green) return fmt::format("the last night was {}", name_of(last.state));
  return watch.damaged.empty() ? "" : "a report cannot be read: " + watch.damaged.front();
}

}  // namespace kiln
