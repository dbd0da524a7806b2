#include <fmt/format.h>

#include <algorithm>

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
    node.fail(fmt::format("'{}' is no time to start at", written),
              "such as \"2026-11-27T08:30\", \"08:30\" or \"now+2hours\"");
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

}  // namespace kiln
