#include "registry/select/gain.h"

#include <algorithm>

namespace kiln {
namespace {

bool is_like(const Measurement& one, const Measurement& like) {
  return one.workload == like.workload && one.unit == like.unit && is_same_machine(one.host, like.host);
}

const MeasuredGain* gain_in(const Measurement& measurement, const std::string& key) {
  auto found = std::find_if(measurement.gains.begin(), measurement.gains.end(),
                            [&](const MeasuredGain& gain) { return gain.key == key; });
  return found == measurement.gains.end() ? nullptr : &*found;
}

// Each pair has its gain once, in either of the two.
std::optional<MeasuredGain> between(const Measurement& image, const Measurement& over) {
  if (const MeasuredGain* gain = gain_in(image, over.key)) return *gain;
  if (const MeasuredGain* gain = gain_in(over, image.key)) return inverse(*gain, over.key);
  return std::nullopt;
}

}  // namespace

std::optional<GainOver> gain_over(const std::vector<Measurement>& image, const std::vector<Measurement>& over,
                                  const Measurement& like) {
  for (auto of = image.rbegin(); of != image.rend(); ++of) {
    if (of->session.empty() || !is_like(*of, like)) continue;
    for (const Measurement& other : over)
      if (other.session == of->session && is_like(other, like))
        if (auto gain = between(*of, other)) return GainOver{&*of, &other, *gain};
  }
  return std::nullopt;
}

}  // namespace kiln
