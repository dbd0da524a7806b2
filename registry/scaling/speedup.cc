#include "registry/scaling/speedup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr double kRounding = 1e-12;  // of an efficiency: 1 / (11 · 0.1 + 0.9) is 0.5

double read_share(std::string_view text, std::string_view law) {
  const std::string what = fmt::format("the parallel share of {}", law);
  if (text == "0") return 0;
  const double share = read_positive(text, what);
  if (share >= 1)
    throw Error(ExitCode::input, fmt::format("{} is {}: expected less than 1", what, text),
                "noop is the model of a program that is parallel throughout");
  return share;
}

// Ranks of Amdahl's or Gustafson's law at which the efficiency falls to `least`, as MODAK computes them.
double ranks_at(const SpeedupModel& model, double least) {
  const double serial = 1 - model.parallel;
  if (model.law == SpeedupLaw::amdahl) return (1 - least * model.parallel) / (least * serial);
  return least <= model.parallel ? INFINITY : serial / (least - model.parallel);
}

double least_squares(SpeedupLaw law, std::span<const TimedRun> runs, std::size_t left_out) {
  const double alone = runs.front().seconds;
  auto misfit = [&](double share) {
    double sum = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (i == left_out) continue;
      const double speedup = alone / runs[i].seconds;
      const double measured =
          law == SpeedupLaw::amdahl ? speedup / static_cast<double>(runs[i].ranks) : speedup;
      const double off = measured - efficiency_of({law, share, 0}, runs[i].ranks);
      sum += off * off;
    }
    return sum;
  };
  constexpr int kSteps = 1000;
  int best = 0;  // the sum may have two valleys: look at all of it first
  for (int step = 1; step <= kSteps; ++step)
    if (misfit(step / double{kSteps}) < misfit(best / double{kSteps})) best = step;
  double low = std::max(0, best - 1) / double{kSteps}, high = std::min(kSteps, best + 1) / double{kSteps};
  for (int step = 0; step < 60; ++step) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (misfit(left) <= misfit(right) ? high : low) = misfit(left) <= misfit(right) ? right : left;
  }
  return (low + high) / 2;
}

}  // namespace

SpeedupModel read_speedup_model(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = colon < text.size() ? text.substr(colon + 1) : std::string_view{};
  if (name == "no-op") return {};  // MODAK's older spelling
  const auto law = kSpeedupLaws.find(name);
  if (!law)
    throw Error(ExitCode::input, fmt::format("unknown scaling model '{}'", name),
                "noop, max:64, amdahl:0.9 and gustafson:0.9 are known");
  if (*law == SpeedupLaw::noop && colon < text.size())
    throw Error(ExitCode::input, fmt::format("the scaling model noop has no value, and '{}' is one", value));
  if (*law == SpeedupLaw::noop) return {};
  if (*law == SpeedupLaw::max) return {*law, 1, read_ranks(value, "the scaling model max")};
  return {*law, read_share(value, name), 0};
}

double efficiency_of(const SpeedupModel& model, std::int64_t ranks) {
  const double count = static_cast<double>(ranks), parallel = model.parallel;
  switch (model.law) {
    case SpeedupLaw::amdahl:
      return 1 / (count * (1 - parallel) + parallel);
    case SpeedupLaw::gustafson:
      return parallel + (1 - parallel) / count;
    case SpeedupLaw::noop:
    case SpeedupLaw::max:
      return 1;
  }
  return 1;
}

std::int64_t choose_ranks(const SpeedupModel& model, std::int64_t asked, std::optional<double> least) {
  if (model.law == SpeedupLaw::max) return std::min(asked, model.most);
  if (model.law == SpeedupLaw::noop || !least || model.parallel >= 1) return asked;
  const double ranks = ranks_at(model, *least);
  if (!(ranks < static_cast<double>(asked))) return asked;
  std::int64_t chosen = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(ranks)));
  if (efficiency_of(model, chosen + 1) >= *least - kRounding) ++chosen;  // 10.9999 is 11
  return chosen;
}

std::vector<TimedRun> read_timed_runs(std::string_view text, std::string_view what) {
  std::vector<TimedRun> runs;
  for (std::string_view part : split(text, ',')) {
    part = trimmed(part);
    const std::size_t colon = part.find(':');
    if (colon == part.npos)
      throw Error(ExitCode::input, fmt::format("{}: '{}' is not RANKS:SECONDS", what, part),
                  "write 1:142.24,2:104.44,4:87.12");
    runs.push_back({read_ranks(part.substr(0, colon), what), read_positive(part.substr(colon + 1), what)});
    if (runs.size() > kMostRankCounts)
      throw Error(ExitCode::input, fmt::format("{}: more than {} times", what, kMostRankCounts));
  }
  std::ranges::sort(runs, {}, &TimedRun::ranks);
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].ranks == runs[i - 1].ranks)
      throw Error(ExitCode::input, fmt::format("{}: {} ranks have two times", what, runs[i].ranks));
  if (runs.front().ranks != 1)
    throw Error(ExitCode::input, fmt::format("{}: there is no time of one rank", what),
                "efficiencies compare with one rank");
  return runs;
}

FittedSpeedup fit_speedup(SpeedupLaw law, std::span<const TimedRun> runs) {
  if (runs.size() < 3)
    throw Error(ExitCode::input, fmt::format("{} times are too few for {}: at least 3 are needed",
                                             runs.size(), kSpeedupLaws.of(law)));
  FittedSpeedup fitted;
  fitted.model = {law, least_squares(law, runs, runs.size()), 0};
  fitted.low = fitted.high = fitted.model.parallel;
  for (std::size_t out = 1; out < runs.size(); ++out) {
    const double share = least_squares(law, runs, out);
    fitted.low = std::min(fitted.low, share);
    fitted.high = std::max(fitted.high, share);
  }
  for (const TimedRun& run : runs) {
    const double speedup = runs.front().seconds / run.seconds;
    const double measured = law == SpeedupLaw::amdahl ? speedup / static_cast<double>(run.ranks) : speedup;
    fitted.error = std::max(fitted.error, std::abs(measured - efficiency_of(fitted.model, run.ranks)));
  }
  return fitted;
}

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
  const auto value = as_number<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0)
    throw Error(ExitCode::input, fmt::format("{}: '{}' is not a number over 0", what, text));
  if (*value < kLeastPositive || *value > kMostPositive)
    throw Error(ExitCode::input,
                fmt::format("{}: {} is not between {} and {}", what, text, kLeastPositive, kMostPositive));
  return *value;
}

}  // namespace kiln
