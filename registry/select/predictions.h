// Predicted speeds of images that were not measured: docs/selection.md, "Predicted speeds". Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/record/image_record.h"

namespace kiln {

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
