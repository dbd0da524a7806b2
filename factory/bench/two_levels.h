// Whether two runs of values have one mean: Student's t-test. Pure.
#pragma once

#include <span>

namespace kiln {

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

}  // namespace kiln
