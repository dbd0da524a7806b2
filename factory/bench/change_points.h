// Where a series of measurements, a value a night, changes its level. Pure and deterministic: no threshold
// to choose for each image, no chance.
//
// The method is that of Apache Otava 0.8.0 as it comes: the divisive search of Matteson and James
// (arXiv 1306.4933) in windows, with Student's t-test in place of permutations (Fleming and others, "Hunter:
// Using Change Point Detection to Hunt for Performance Regressions", ICPE 2023, doi
// 10.1145/3578244.3583719). Otava's program is the yardstick of tests/oracle/change_points.py.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kiln {

// Whether two runs of values have one mean: Student's t-test. Pure.

struct TwoLevels {
  double before = 0;  // means
  double after = 0;
  // That values of one level differ so much by chance, two-sided. NaN where neither run varies and both
  // means are one; 0 where neither varies and they are two.
  double p = 1;

  // after / before - 1; 0 where before is 0.
  double change() const;
  // The greater of the changes there and back, without its sign.
  double magnitude() const;
};

// Of two runs that are not empty, of finite values. Variances are divided by the number of values, not by
// one less, and then taken for those of samples: so does Apache Otava, and its answers are the measure here.
TwoLevels compare_levels(std::span<const double> before, std::span<const double> after);

struct ChangePoint {
  std::size_t index = 0;  // of the first value of the new level
  TwoLevels levels;       // from the point before to this one, and from this one to the next
  // Fewer than three values of its level follow it, or the values that follow do not differ on their own from
  // the last level that was not as short. A single outlier looks like a new level at first, and then like a
  // return to the old one. A suspected point is shown and causes no alarm.
  bool suspected = false;
};

struct ChangePointLimits {
  std::size_t window = 50;  // values that are searched at a time; the time goes with its cube
  double p = 0.001;         // a point with this p or more does not count
  double magnitude = 0;     // nor does one whose levels differ by no more than this share
};

// In the order of the series, whose values are finite. All of them are found anew each time: the next night
// may move or take away those near the end.
std::vector<ChangePoint> find_change_points(std::span<const double> series,
                                            const ChangePointLimits& limits = {});

}  // namespace kiln
