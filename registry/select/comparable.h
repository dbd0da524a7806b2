// Which measured speeds compare, and which of them are the same: docs/selection.md, "Comparable
// measurements". Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "registry/index/index.h"

namespace kiln {

struct Quartiles {
  double low = 0;
  double high = 0;
};

// For each, its class: 0 for the first and all whose quartiles overlap with its, ends included; the first of
// the rest begins class 1, and so on. Takes time in proportion to n log n.
std::vector<int> speed_classes(const std::vector<Quartiles>& fastest_first);

// Which way a unit counts: "ms/step" less is better, "images/s" more.
enum class Direction { unknown, less, more };
Direction direction_of(std::string_view unit);

// What an image's speed is worth among others.
struct Speed {
  const Measurement* measured = nullptr;
  int speed_class = 0;  // 0: as fast as the fastest
};

// Whether a speed of this image compares with `here` at all, whatever the workload.
bool is_comparable(const IndexEntry& entry, const HostDescription& here);

// Of images that qualify, those that were measured where it compares with `here`; nullptr: no host is known,
// and nothing compares. `workload` "" is any.
std::map<const IndexEntry*, Speed> comparable_speeds(const std::vector<const IndexEntry*>& entries,
                                                     const std::string& workload,
                                                     const HostDescription* here);

}  // namespace kiln
