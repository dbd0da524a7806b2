#include "factory/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "factory/base/median.h"
#include "factory/bench/change_points.h"

namespace kiln {
namespace {

// Of sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The generator's numbers are the standard's; a distribution's would be the library's own. Of so few
// values, the remainder favours none that could be seen.
std::size_t below(std::mt19937_64& random, std::size_t end) {
  return static_cast<std::size_t>(random() % static_cast<std::uint64_t>(end));
}

std::vector<double> medians_of(const SteadyRuns& runs) {
  std::vector<double> medians;
  for (const std::vector<double>& run : runs) medians.push_back(median_of(run));
  return medians;
}

double drawn_median(const SteadyRuns& runs, std::mt19937_64& random) {
  std::vector<double> medians;
  std::vector<double> drawn;
  for (std::size_t number = 0; number < runs.size(); ++number) {
    const std::vector<double>& run = runs[below(random, runs.size())];
    drawn.clear();
    for (std::size_t sample = 0; sample < run.size(); ++sample)
      drawn.push_back(run[below(random, run.size())]);
    medians.push_back(median_in(drawn));
  }
  return median_in(medians);
}

double times_as_fast(double a, double b, bool more_is_better) { return more_is_better ? b / a : a / b; }

}  // namespace

Summary summarise(std::vector<double> samples) {
  std::ranges::sort(samples);
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

WarmUp find_warm_up(std::span<const double> samples) {
  constexpr double kOneLevel = 0.05;
  std::vector<std::size_t> begins = {0};
  for (const ChangePoint& point : find_change_points(samples, {.magnitude = kOneLevel}))
    if (!point.suspected) begins.push_back(point.index);
  auto level = [&](std::size_t number) {
    const std::size_t end = number + 1 == begins.size() ? samples.size() : begins[number + 1];
    const std::span<const double> values = samples.subspan(begins[number], end - begins[number]);
    return median_of({values.begin(), values.end()});
  };
  const double last = level(begins.size() - 1);
  std::size_t number = 0;
  while (std::abs(level(number) / last - 1) > kOneLevel) ++number;
  const std::size_t length = begins[number];
  return {length, 2 * length < samples.size()};
}

Comparison compare_runs(const SteadyRuns& a, const SteadyRuns& b, bool more_is_better) {
  constexpr int kDraws = 2000;
  constexpr std::uint64_t kSeed = 14;
  Comparison found{median_of(medians_of(a)), median_of(medians_of(b))};
  found.ratio = times_as_fast(found.a, found.b, more_is_better);
  std::mt19937_64 random(kSeed);
  std::vector<double> ratios;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double of_a = drawn_median(a, random);
    ratios.push_back(times_as_fast(of_a, drawn_median(b, random), more_is_better));
  }
  std::ranges::sort(ratios);
  found.low = quantile(ratios, 0.025);
  found.high = quantile(ratios, 0.975);
  return found;
}

}  // namespace kiln
