// The middle of some numbers. Pure.
#pragma once

#include <algorithm>
#include <vector>

namespace kiln {

// The middle value, or the mean of the two in the middle; changes the order. REQUIRES: not empty.
inline double median_in(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

inline double median_of(std::vector<double> values) { return median_in(values); }

}  // namespace kiln
