#include "registry/select/misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace kiln {
namespace {

// Misses of one demand: what is asked for, or needed, stands before the semicolon of a reason, what is there
// behind it.
struct FailedDemand {
  std::size_t tier = 0;  // 0: the nearest; the next where a miss met fewer clauses
  std::size_t count = 0;
  const Candidate* nearest = nullptr;
  std::vector<std::string_view> found{};  // each once, nearest first
  std::set<std::string_view> seen{};
};

constexpr std::string_view kBetween = "; ";

// "this is " of "this is 1.0" and "this is 1.1": whole words that all begin with.
std::size_t common_words(const std::vector<std::string_view>& texts) {
  std::string_view common = texts.front();
  for (std::string_view text : texts) {
    const auto end = std::mismatch(common.begin(), common.end(), text.begin(), text.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  return common.rfind(' ') + 1;  // 0 where there is no blank
}

std::string found_text(const std::vector<std::string_view>& found) {
  constexpr std::size_t kSome = 3;
  if (found.size() == 1) return std::string(found.front());
  const std::size_t words = common_words(found);
  std::string text(found.front());
  const std::size_t some = found.size() == kSome + 1 ? found.size() : std::min(found.size(), kSome);
  for (std::size_t i = 1; i < some; ++i) text += fmt::format(", {}", found[i].substr(words));
  return some == found.size() ? text : fmt::format("{} and {} others", text, found.size() - some);
}

std::string reason_text(std::string_view demand, const FailedDemand& of) {
  if (of.found.empty()) return std::string(demand);
  return fmt::format("{}{}{}", demand, kBetween, found_text(of.found));
}

std::map<std::string_view, FailedDemand> demands_of(const Selection& selection) {
  std::map<std::string_view, FailedDemand> demands;
  std::size_t tier = 0;
  const Candidate* before = nullptr;
  for (const Candidate& other : selection.others) {
    if (other.failed.empty()) continue;
    if (before != nullptr && before->clauses_met != other.clauses_met) ++tier;
    before = &other;
    const std::string_view reason = other.failed;
    const std::size_t between = reason.find(kBetween);
    FailedDemand& demand =
        demands.try_emplace(reason.substr(0, between), FailedDemand{tier, 0, &other}).first->second;
    ++demand.count;
    if (between == std::string_view::npos) continue;
    const std::string_view found = reason.substr(between + kBetween.size());
    if (demand.seen.insert(found).second) demand.found.push_back(found);
  }
  return demands;
}

}  // namespace

std::vector<MissReason> misses_by_reason(const Selection& selection) {
  const std::map<std::string_view, FailedDemand> demands = demands_of(selection);
  std::vector<const std::pair<const std::string_view, FailedDemand>*> sorted;
  for (const auto& one : demands) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->second.tier, b->second.count) < std::tie(b->second.tier, a->second.count);
  });
  std::vector<MissReason> reasons;
  reasons.reserve(sorted.size());
  for (const auto* one : sorted)
    reasons.push_back({reason_text(one->first, one->second), one->second.count, one->second.nearest});
  return reasons;
}

}  // namespace kiln
