#include "factory/night/trends.h"

#include "factory/bench/change_points.h"

namespace kiln {
namespace {

constexpr double kLeast = 0.01;      // of a level: a smaller change is none
constexpr std::size_t kNewest = 4;   // values: a change before them was told when it was new
constexpr double kLeastSeconds = 5;  // what takes less is noise of starting programs

struct Value {
  std::int64_t night;
  double value;
};
using Series = std::map<std::pair<std::string, std::string>, std::vector<Value>>;  // by image and what

void add_values(const PastNight& night, Series& series) {
  for (const PastValues& image : night.values) {
    if (image.seconds > 0) series[{image.name, "seconds"}].push_back({night.number, image.seconds});
    if (image.bytes > 0) series[{image.name, "bytes"}].push_back({night.number, image.bytes});
    for (const auto& [name, speed] : image.speeds) {
      std::vector<Value>& values = series[{image.name, name}];
      // The same measurement, still the newest.
      if (values.empty() || values.back().value != speed) values.push_back({night.number, speed});
    }
  }
}

bool is_worth_telling(const Trend& trend) {
  return trend.what != "seconds" || std::max(trend.before, trend.after) >= kLeastSeconds;
}

}  // namespace

std::vector<Trend> find_trends(const std::vector<PastNight>& nights) {
  Series series;
  for (const PastNight& night : nights) add_values(night, series);
  std::vector<Trend> trends;
  for (const auto& [name, values] : series) {
    if (values.back().night != nights.back().number) continue;
    std::vector<double> numbers;
    for (const Value& value : values) numbers.push_back(value.value);
    const std::vector<ChangePoint> points = find_change_points(numbers, {.magnitude = kLeast});
    if (points.empty() || points.back().index + kNewest < values.size()) continue;
    const ChangePoint& point = points.back();
    Trend trend{
        name.first,     name.second, point.levels.before, point.levels.after, values[point.index].night,
        point.suspected};
    if (is_worth_telling(trend)) trends.push_back(std::move(trend));
  }
  return trends;
}

}  // namespace kiln
