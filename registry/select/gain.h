// The gain of one image over another, as it was measured: docs/measure.md, "Figures". Pure.
#pragma once

#include <optional>
#include <vector>

#include "factory/record/image_record.h"

namespace kiln {

struct GainOver {
  const Measurement* of = nullptr;  // both of the same session
  const Measurement* over = nullptr;
  MeasuredGain gain;
};

// `image`, `over`: all measurements of each, by their time. In the last session in which both took turns,
// with the workload, unit and host of `like`; nullopt: there is none, and their speeds do not compare.
std::optional<GainOver> gain_over(const std::vector<Measurement>& image, const std::vector<Measurement>& over,
                                  const Measurement& like);

}  // namespace kiln
