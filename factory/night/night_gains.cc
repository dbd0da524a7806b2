#include "factory/night/night_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/text.h"
#include "factory/bench/change_points.h"

namespace kiln {
namespace {

// The name of the series of ratios, beside those of speeds.
std::string ratio_series(const std::string& place) { return "times as fast as stock, " + place; }

void set_gains_of(NightImage& image, const std::vector<Measurement>& measurements) {
  image.speeds.clear();
  for (const Measurement& one : measurements) {  // by their time: the newest stays
    image.speeds[fmt::format("{}, {}, on {}", one.workload, one.unit, one.host.cpu)] = one.median;
    const StockGain word = stock_gain(one);
    if (word == StockGain::not_measured) continue;
    const std::string place = gain_place(one.workload, one.host);
    image.gains[place] = {word, one.over_stock->ratio, one.over_stock->low, one.over_stock->high};
    image.speeds[ratio_series(place)] = one.over_stock->ratio;
  }
}

std::string words_of(const NightGain& gain) {
  return fmt::format("{:.2f} times as fast as stock ({:.2f} to {:.2f})", gain.ratio, gain.low, gain.high);
}

NightTrouble fallen_trouble(const NightImage& image, const std::string& place, const NightGain& gain,
                            const Trend* trend) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::gain;
  trouble.subject = image.name;
  trouble.what = fmt::format("{}: {}: proven before night {}, and {} by now: {}", image.name, place,
                             gain.fell, stock_gain_word(gain.word), words_of(gain));
  if (trend != nullptr)
    trouble.what += fmt::format(": {:.2f} → {:.2f} {} night {}", trend->before, trend->after,
                                trend->suspected ? "perhaps since" : "since", trend->night);
  trouble.actor = Actor::recipe;
  trouble.advice =
      "find out what changed, or take the image out of the matrix; nights with --measure measure it again";
  return trouble;
}

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

std::string gain_place(const std::string& workload, const HostDescription& host) {
  return fmt::format("{} on {}, {}", workload, host.model.empty() ? host.cpu : host.model,
                     counted(static_cast<std::size_t>(std::max(0, host.cores)), "processor"));
}

void set_gains(std::vector<NightImage>& images, const std::vector<IndexEntry>& measured) {
  std::map<std::string_view, const IndexEntry*> by_key;
  for (const IndexEntry& entry : measured)
    if (!entry.image.key.empty()) by_key.emplace(entry.image.key, &entry);
  for (NightImage& image : images)
    if (auto found = by_key.find(image.key); found != by_key.end())
      set_gains_of(image, found->second->measurements);
}

bool has_fallen(const NightImage& image) {
  return std::ranges::any_of(image.gains, [](const auto& one) { return one.second.fell != 0; });
}

void compare_gains(std::vector<NightImage>& images, const std::vector<NightImage>& before,
                   std::int64_t night) {
  std::map<std::string_view, const NightImage*> by_cell;
  for (const NightImage& image : before) by_cell.emplace(image.cell, &image);
  for (NightImage& image : images) {
    const auto found = by_cell.find(image.cell);
    if (found == by_cell.end()) continue;
    for (const auto& [place, last] : found->second->gains) {
      const auto now = image.gains.find(place);
      if (now == image.gains.end()) {
        image.gains.emplace(place, last).first->second.is_of_earlier_bits = true;
      } else if (now->second.word != StockGain::proven) {
        now->second.fell = last.word == StockGain::proven ? night : last.fell;
      }
    }
  }
}

std::vector<NightTrouble> fallen_troubles(const std::vector<NightImage>& images,
                                          const std::vector<Trend>& trends) {
  std::vector<NightTrouble> troubles;
  for (const NightImage& image : images)
    for (const auto& [place, gain] : image.gains) {
      if (gain.fell == 0) continue;
      const std::string series = ratio_series(place);
      const auto trend = std::ranges::find_if(
          trends, [&](const Trend& one) { return one.name == image.name && one.what == series; });
      troubles.push_back(fallen_trouble(image, place, gain, trend == trends.end() ? nullptr : &*trend));
    }
  return troubles;
}

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
