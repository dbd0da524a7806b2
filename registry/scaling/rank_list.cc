#include "registry/scaling/rank_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr const char* kRankHint = "write 1..512 (doubling), 1..64:4 (every fourth) or 1,2,24";

void add_range(std::string_view text, std::string_view what, std::vector<std::int64_t>& ranks) {
  const std::size_t dots = text.find("..");
  std::string_view end = text.substr(dots + 2);
  std::int64_t step = 0;  // 0: doubles
  if (const std::size_t colon = end.find(':'); colon != end.npos) {
    step = read_ranks(end.substr(colon + 1), what);
    end = end.substr(0, colon);
  }
  const std::int64_t first = read_ranks(text.substr(0, dots), what), last = read_ranks(end, what);
  if (first > last)
    throw Error(ExitCode::input, fmt::format("{}: the range {} is empty", what, text), kRankHint);
  if (step > 0 && (last - first) / step >= static_cast<std::int64_t>(kMostRankCounts))
    throw Error(ExitCode::input,
                fmt::format("{}: {} are {} numbers of ranks, and {} is the most", what, text,
                            (last - first) / step + 1, kMostRankCounts),
                kRankHint);
  for (std::int64_t rank = first; rank<last; rank = step> 0 ? rank + step : 2 * rank) ranks.push_back(rank);
  ranks.push_back(last);
}

}  // namespace

std::int64_t read_ranks(std::string_view text, std::string_view what) {
  std::int64_t ranks = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, ranks);
  const bool whole = !text.empty() && rest == end && problem != std::errc::invalid_argument;
  if (!whole)
    throw Error(ExitCode::input, fmt::format("{}: '{}' is not a number of ranks", what, text), kRankHint);
  if (problem == std::errc::result_out_of_range || ranks < 1 || ranks > kMostRanks)
    throw Error(ExitCode::input,
                fmt::format("{}: {} ranks; the least is 1 and the most {}", what, text, kMostRanks));
  return ranks;
}

std::vector<std::int64_t> read_rank_list(std::string_view text, std::string_view what) {
  std::vector<std::int64_t> ranks;
  for (std::string_view part : split(text, ',')) {
    part = trimmed(part);
    if (!contains(part, ".."))
      ranks.push_back(read_ranks(part, what));
    else
      add_range(part, what, ranks);
    if (ranks.size() > kMostRankCounts)
      throw Error(ExitCode::input, fmt::format("{}: more than {} numbers of ranks", what, kMostRankCounts),
                  kRankHint);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

double read_positive(std::string_view text, std::string_view what) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  if (text.empty() || rest != end || problem != std::errc{} || !std::isfinite(value) || value <= 0)
    throw Error(ExitCode::input, fmt::format("{}: '{}' is not a number over 0", what, text));
  if (value < kLeastPositive || value > kMostPositive)
    throw Error(ExitCode::input,
                fmt::format("{}: {} is not between {} and {}", what, text, kLeastPositive, kMostPositive));
  return value;
}

}  // namespace kiln
