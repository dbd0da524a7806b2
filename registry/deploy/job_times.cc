#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "registry/deploy/job_values.h"

namespace kiln {

namespace {

// `pattern` has 0 for a digit; other characters are themselves.
bool has_shape(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) return false;
  return true;
}

int two_digits(std::string_view text, std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); }

bool is_time_of_day(std::string_view text) {
  return two_digits(text, 0) < 24 && two_digits(text, 3) < 60 && two_digits(text, 6) < 60;
}

bool is_date(std::string_view text) {
  const int month = two_digits(text, 5), day = two_digits(text, 8);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// now, now+3600, now+2hours.
bool is_distance(std::string_view text) {
  if (!text.starts_with("now")) return false;
  if (text == "now") return true;
  if (text.size() < 5 || text[3] != '+' || !is_digit(text[4]) || text.size() > 20) return false;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", 4), text.size());
  const std::string_view unit = text.substr(end);
  static constexpr std::string_view kUnits[] = {"",      "second", "seconds", "minute", "minutes", "hour",
                                                "hours", "day",    "days",    "week",   "weeks"};
  return std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
}

}  // namespace

StartTime read_start_time(const JsonNode& node) {
  const std::string written = read_option(node);
  std::string_view text = written;
  StartTime start;
  if (is_distance(text)) {
    start.distance = text;
    return start;
  }
  if (text.size() >= 10 && has_shape(text.substr(0, 10), "0000-00-00")) {
    start.date = text.substr(0, 10);
    text = text.size() > 11 && (text[10] == 'T' || text[10] == ' ') ? text.substr(11)
           : text.size() == 10                                      ? "00:00:00"
                                                                    : "";
  }
  if (has_shape(text, "00:00"))
    start.time = std::string(text) + ":00";
  else if (has_shape(text, "00:00:00"))
    start.time = text;
  if (start.time.empty() || !is_time_of_day(start.time) || (!start.date.empty() && !is_date(start.date)))
    node.fail(fmt::format("invalid start time '{}'", written),
              "for example \"2026-11-27T08:30\", \"08:30\" or \"now+2hours\"");
  return start;
}

std::string slurm_begin(const StartTime& start) {
  if (!start.distance.empty()) return start.distance;
  return start.date.empty() ? start.time : start.date + "T" + start.time;
}

// Of qsub -a, in Torque and OpenPBS: [[[[CC]YY]MM]DD]hhmm[.SS]
std::string pbs_begin(const StartTime& start) {
  if (!start.distance.empty()) return "";
  std::string text;
  for (const char c : start.date + start.time.substr(0, 5))
    if (is_digit(c)) text += c;
  return text + "." + start.time.substr(6);
}

namespace {

constexpr std::int64_t kMostDays = 3650;
constexpr std::int64_t kDay = 86'400;
constexpr const char* kTimeHint = "for example \"12:00:00\", \"1-12:00:00\" or 43200 (seconds)";

// The fields of `H:M:S` or `M:S`, of which only the first may exceed 59.
std::optional<std::int64_t> clock_seconds(std::string_view text, bool after_days, const JsonNode& node) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = whole_number(parts[i]);
    if (!value) return std::nullopt;
    if (i > 0 && *value > 59)
      node.fail(fmt::format("'{}' has {} minutes or seconds; the maximum is 59", text, *value), kTimeHint);
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
  const auto days = whole_number(text.substr(0, dash));
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
    if (end == text.npos || !contains(units, text[end])) return std::nullopt;
    const auto value = whole_number(text.substr(at, end - at));
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
  if (*seconds == 0) node.fail("a time of 0 seconds is not allowed: schedulers read it as no limit");
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
