// Which measured speeds compare, and which of them are the same: docs/selection.md, "Comparable
// measurements". Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/record/image_record.h"
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

// The speed of an image in comparisons.
struct Speed {
  const Measurement* measured = nullptr;
  int speed_class = 0;  // 0: as fast as the fastest
};

// Whether a speed of this image is comparable with `here`, whatever the workload.
bool is_comparable(const IndexEntry& entry, const HostDescription& here);

// Of images that qualify, those that were measured where it compares with `here`; nullptr: no host is known,
// and nothing compares. `workload` "" is any.
std::map<const IndexEntry*, Speed> comparable_speeds(const std::vector<const IndexEntry*>& entries,
                                                     const std::string& workload,
                                                     const HostDescription* here);

// Predicted speeds of images that were not measured: docs/selection.md, "Predicted speeds". Pure.

struct PredictedSpeed {
  double seconds = 0, low = 0, high = 0;  // of a step; low to high is the interval
  std::vector<std::string> reasons{};     // the features that made it, the strongest first
  std::string text() const;               // "8.1 ms/step, 7.0 to 9.4"
};

// A model that beats both guesses, for one question on one host.
struct Predictions {
  std::function<std::optional<PredictedSpeed>(const ImageRecord& image)> of{};  // nullptr: there is no model
  std::string workload{};
  std::string check{};  // how the model did in its check
};

// For each, its class: as speed_classes() has it by the intervals. One without a prediction may be as fast as
// the fastest, so it is in class 0.
std::vector<int> predicted_classes(const std::vector<std::optional<PredictedSpeed>>& speeds);

}  // namespace kiln
