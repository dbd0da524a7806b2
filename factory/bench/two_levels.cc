#include "factory/bench/two_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace kiln
