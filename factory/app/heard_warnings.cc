#include "factory/app/heard_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostWarnings = 500;
constexpr std::string_view kWord = "warning: ";

}  // namespace

bool is_warning(std::string_view line) {
  const std::string text = lower_case(line.substr(0, line.find('\n')));
  const std::size_t at = text.find(kWord);
  if (at == std::string::npos || at == 0) return at == 0;
  // Of a place there is a file with a line or without: "FILE: warning: …".
  return text.substr(0, at).ends_with(": ") && text.substr(0, at - 2).find(": ") == std::string::npos;
}

void HeardWarnings::hear(const std::string& line) {
  if (!is_warning(line)) return;
  const std::string text = without_controls(line);
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(lines_, text) != lines_.end()) return;
  if (lines_.size() < kMostWarnings)
    lines_.push_back(text);
  else
    ++more_;
}

std::vector<std::string> HeardWarnings::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = lines_;
  if (more_ > 0) all.push_back(fmt::format("{}: kiln's log has them all", counted(more_, "more warning")));
  return all;
}

}  // namespace kiln
