// Which of many measured speeds are the same: docs/selection.md, "Comparable measurements". Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace kiln {

struct Quartiles {
  double low = 0;
  double high = 0;
};

// For each, its class: 0 for the first and all whose quartiles overlap with its, ends included; the first of
// the rest begins class 1, and so on. Takes time in proportion to n log n.
std::vector<int> speed_classes(const std::vector<Quartiles>& fastest_first);

}  // namespace kiln
