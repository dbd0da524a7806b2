#include "factory/bench/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kiln {
namespace {

using Values = std::span<const double>;

// Where an interval falls into two, and by how much they differ.
struct Split {
  double difference = 0;
  std::size_t at = 0;  // the first value of the second
};

double distances(Values values, double from) {
  double sum = 0;
  for (double value : values) sum += std::abs(value - from);
  return sum;
}

// The measure of Matteson and James: distances across, less those within each of n and m values.
double energy(double n, double m, double across, double within_left, double within_right) {
  double found = 2 / (m + n) * across;
  if (n > 1) found -= 2 * m / (m + n) / (n - 1) * within_left;
  if (m > 1) found -= 2 * n / (m + n) / (m - 1) * within_right;
  return found;
}

// The best of an interval of at least two values. The second run is compared up to each of its values, so
// that a level which ends again within the interval is found too. Of equals the first.
Split best_split(Values values) {
  std::optional<Split> best;
  double within_left = 0;
  for (std::size_t at = 1; at < values.size(); ++at) {
    Values left = values.first(at);
    within_left += distances(left.first(at - 1), left.back());
    double across = 0, within_right = 0;
    for (std::size_t size = 1; at + size <= values.size(); ++size) {
      double last = values[at + size - 1];
      across += distances(left, last);
      within_right += distances(values.subspan(at, size - 1), last);
      double difference =
          energy(static_cast<double>(at), static_cast<double>(size), across, within_left, within_right);
      if (!best || difference > best->difference) best = Split{difference, at};
    }
  }
  return *best;
}

// The values between the points beside that of this number.
TwoLevels levels_at(Values series, const std::vector<std::size_t>& points, std::size_t number) {
  std::size_t begin = number == 0 ? 0 : points[number - 1];
  std::size_t end = number + 1 == points.size() ? series.size() : points[number + 1];
  return compare_levels(series.subspan(begin, points[number] - begin),
                        series.subspan(points[number], end - points[number]));
}

// Adds the best split of all intervals for as long as it is significant.
std::vector<std::size_t> divide(Values window, double p) {
  std::vector<std::size_t> points;
  for (;;) {
    std::optional<Split> best;
    for (std::size_t number = 0; number <= points.size(); ++number) {
      std::size_t begin = number == 0 ? 0 : points[number - 1];
      std::size_t end = number == points.size() ? window.size() : points[number];
      if (end - begin < 2) continue;
      Split split = best_split(window.subspan(begin, end - begin));
      if (!best || split.difference > best->difference) best = Split{split.difference, begin + split.at};
    }
    if (!best) return points;
    auto place = points.insert(std::lower_bound(points.begin(), points.end(), best->at), best->at);
    // A p that is no number is not significant either.
    if (levels_at(window, points, static_cast<std::size_t>(place - points.begin())).p <= p) continue;
    points.erase(place);
    return points;
  }
}

// More than will stay: each window is searched with a greater p. The next one begins at the last point, so
// that a level is seen from its beginning, or half a window further.
std::vector<std::size_t> candidates(Values series, const ChangePointLimits& limits) {
  double p = limits.p < 0.05 ? limits.p * 10 : limits.p < 0.5 ? limits.p * 2 : limits.p;
  std::vector<std::size_t> points;
  for (std::size_t start = 0; start < series.size();) {
    std::vector<std::size_t> found =
        divide(series.subspan(start, std::min(limits.window, series.size() - start)), p);
    std::size_t last = found.empty() ? 0 : start + found.back();
    for (std::size_t point : found) points.push_back(start + point);
    start = std::max(last, start + std::max<std::size_t>(limits.window / 2, 1));
  }
  return points;
}

// Takes the weakest away until all that are left are significant and large enough.
void remove_weak(Values series, const ChangePointLimits& limits, std::vector<std::size_t>& points,
                 std::vector<TwoLevels>& levels) {
  auto less_p = [](const TwoLevels& a, const TwoLevels& b) { return a.p < b.p; };
  auto smaller = [](const TwoLevels& a, const TwoLevels& b) { return a.magnitude() < b.magnitude(); };
  while (!points.empty()) {
    auto weakest = std::max_element(levels.begin(), levels.end(), less_p);
    if (weakest->p < limits.p) {
      weakest = std::min_element(levels.begin(), levels.end(), smaller);
      if (weakest->magnitude() > limits.magnitude) return;
    }
    std::ptrdiff_t number = weakest - levels.begin();
    points.erase(points.begin() + number);
    levels.erase(weakest);
    // Its neighbours are now one before and at its place. Otava computes the two from its place on anew, and
    // what it answers is the measure: the one before keeps what it had.
    for (auto next = static_cast<std::size_t>(number);
         next < points.size() && next <= static_cast<std::size_t>(number) + 1; ++next)
      levels[next] = levels_at(series, points, next);
  }
}

// A level of three nights or fewer is none to compare with yet: neither the new one nor, where there is an
// earlier one, the old one.
constexpr std::size_t kTooShort = 3;

// Whether the new level stands without the night that it began with, and differs from the last one that
// stood.
bool confirmed(Values series, const std::vector<std::size_t>& points, std::size_t number, double p) {
  auto begin_of = [&](std::size_t level) { return level == 0 ? 0 : points[level - 1]; };
  auto values_of = [&](std::size_t level) {
    std::size_t end = level == points.size() ? series.size() : points[level];
    return series.subspan(begin_of(level), end - begin_of(level));
  };
  Values after = values_of(number + 1);
  std::size_t last = number;
  while (last > 0 && values_of(last).size() <= kTooShort) --last;
  return after.size() > kTooShort && compare_levels(values_of(last), after.subspan(1)).p < p;
}

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> series, const ChangePointLimits& limits) {
  std::vector<std::size_t> points = candidates(series, limits);
  std::vector<TwoLevels> levels;
  for (std::size_t number = 0; number < points.size(); ++number)
    levels.push_back(levels_at(series, points, number));
  remove_weak(series, limits, points, levels);
  std::vector<ChangePoint> found;
  for (std::size_t number = 0; number < points.size(); ++number)
    found.push_back({points[number], levels[number], !confirmed(series, points, number, limits.p)});
  return found;
}

}  // namespace kiln
