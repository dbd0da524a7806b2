#include "factory/bench/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kiln {
namespace {

// Counted from the first: values that are all the same have their own value as their mean, and no variance.
double mean_of(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value - values.front();
  return values.front() + sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values, double mean) {
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

// The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes, 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  auto kept_from_zero = [](double value) { return std::abs(value) > kTiny ? value : kTiny; };
  double c = 1;
  double d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < 500; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_from_zero(1 + even * d);
    c = kept_from_zero(1 + even / c);
    fraction *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_from_zero(1 + odd * d);
    c = kept_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, b). `rest` is 1 - x, which has no digits left near one.
double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, rest, x);
  double front = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest);
  return std::exp(front) * beta_fraction(a, b, x) / a;
}

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
    auto place = points.insert(std::ranges::lower_bound(points, best->at), best->at);
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
    auto weakest = std::ranges::max_element(levels, less_p);
    if (weakest->p < limits.p) {
      weakest = std::ranges::min_element(levels, smaller);
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

double TwoLevels::change() const { return before == 0 ? 0 : after / before - 1; }

double TwoLevels::magnitude() const {
  double back = after == 0 ? 0 : before / after - 1;
  return std::max(std::abs(change()), std::abs(back));
}

TwoLevels compare_levels(std::span<const double> before, std::span<const double> after) {
  TwoLevels levels{mean_of(before), mean_of(after), 1};
  double n = static_cast<double>(before.size()), m = static_cast<double>(after.size());
  double freedom = n + m - 2;
  if (freedom <= 0) return levels;
  double pooled =
      ((n - 1) * variance_of(before, levels.before) + (m - 1) * variance_of(after, levels.after)) / freedom;
  double difference = levels.before - levels.after;
  double deviation = std::sqrt(pooled * (1 / n + 1 / m));
  if (deviation == 0) {
    levels.p = difference == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
    return levels;
  }
  double t = difference / deviation;
  levels.p = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t));
  return levels;
}

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
