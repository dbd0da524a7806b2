#include "registry/select/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "registry/select/comparable.h"

namespace kiln {

std::string PredictedSpeed::text() const {
  return fmt::format("{:.4g} ms/step, {:.4g} to {:.4g}", 1000 * seconds, 1000 * low, 1000 * high);
}

std::vector<int> predicted_classes(const std::vector<std::optional<PredictedSpeed>>& speeds) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    if (speeds[i]) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(speeds[a]->seconds, speeds[a]->low, speeds[a]->high) <
           std::tie(speeds[b]->seconds, speeds[b]->low, speeds[b]->high);
  });
  std::vector<Quartiles> intervals;
  for (const std::size_t place : order) intervals.push_back({speeds[place]->low, speeds[place]->high});
  const std::vector<int> found = speed_classes(intervals);
  std::vector<int> classes(speeds.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) classes[order[i]] = found[i];
  return classes;
}

}  // namespace kiln
