#include "registry/deploy/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "factory/base/quantity.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::int64_t kMostDays = 3650;
constexpr std::int64_t kDay = 86'400;
constexpr std::size_t kMostDigits = 9;
constexpr const char* kTimeHint = "such as \"12:00:00\", \"1-12:00:00\" or 43200 (seconds)";

std::optional<std::int64_t> whole(std::string_view text) {
  if (text.empty() || text.size() > kMostDigits || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text) number = number * 10 + (c - '0');
  return number;
}

// The fields of `H:M:S` or `M:S`, of which only the first may exceed 59.
std::optional<std::int64_t> clock_seconds(std::string_view text, bool after_days, const JsonNode& node) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = whole(parts[i]);
    if (!value) return std::nullopt;
    if (i > 0 && *value > 59)
      node.fail(fmt::format("'{}' has {} where at most 59 may be", text, *value), kTimeHint);
    if (i == 0 && after_days && *value > 23)
      node.fail(fmt::format("'{}' has {} hours after its days", text, *value), kTimeHint);
    total = total * 60 + *value;
  }
  // After days, Slurm's fields begin with the hours: D-HH, D-HH:MM.
  if (after_days)
    for (std::size_t i = parts.size(); i < 3; ++i) total *= 60;
  return total;
}

std::optional<std::int64_t> days_and_clock(std::string_view text, const JsonNode& node) {
  const std::size_t dash = text.find('-');
  if (dash == text.npos) return clock_seconds(text, false, node);
  const auto days = whole(text.substr(0, dash));
  const auto rest = clock_seconds(text.substr(dash + 1), true, node);
  if (!days || !rest) return std::nullopt;
  return *days * kDay + *rest;
}

// ISO 8601 without years and months, whose length is not fixed: P1DT2H30M15S.
std::optional<std::int64_t> iso_seconds(std::string_view text) {
  if (!text.starts_with('P') || text.size() < 3) return std::nullopt;
  std::int64_t total = 0;
  std::string_view units = "D";
  bool any = false;
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] == 'T' && units != "HMS") {
      units = "HMS";
      ++at;
      any = false;
      continue;
    }
    const std::size_t end = text.find_first_not_of("0123456789", at);
    if (end == text.npos || units.find(text[end]) == units.npos) return std::nullopt;
    const auto value = whole(text.substr(at, end - at));
    if (!value) return std::nullopt;
    total += *value * (text[end] == 'D' ? kDay : text[end] == 'H' ? 3600 : text[end] == 'M' ? 60 : 1);
    any = true;
    at = end + 1;
  }
  return any ? std::optional(total) : std::nullopt;
}

std::optional<std::int64_t> time_in(const JsonNode& node) {
  if (node.is_number()) return node.integer(0, kMostDays * kDay);
  const std::string written = node.line_of_text();
  const std::string_view text = trimmed(written);
  if (auto seconds = days_and_clock(text, node)) return seconds;
  if (auto seconds = iso_seconds(text)) return seconds;
  if (auto duration = duration_of(text)) return duration->count();
  return std::nullopt;
}

}  // namespace

std::chrono::seconds read_wall_time(const JsonNode& node) {
  const auto seconds = time_in(node);
  if (!seconds) node.fail(fmt::format("expected a time, found '{}'", node.string()), kTimeHint);
  if (*seconds == 0) node.fail("a time of 0 seconds is no time for a job: schedulers read it as no limit");
  if (*seconds > kMostDays * kDay) node.fail(fmt::format("expected at most {} days", kMostDays), kTimeHint);
  return std::chrono::seconds(*seconds);
}

std::string slurm_time(std::chrono::seconds time) {
  const std::int64_t seconds = time.count();
  return fmt::format("{}-{:02}:{:02}:{:02}", seconds / kDay, seconds % kDay / 3600, seconds % 3600 / 60,
                     seconds % 60);
}

std::string pbs_time(std::chrono::seconds time) {
  const std::int64_t seconds = time.count();
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60);
}

}  // namespace kiln
