#include "registry/select/stock_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "factory/base/text.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

bool is_at(const Measurement& measurement, const MeasuredPlace& place) {
  return measurement.workload == place.workload && measurement.unit == place.unit &&
         is_same_machine(measurement.host, place.host);
}

Json word_json(const StockWord& word, const std::map<std::string, Digest>& manifests) {
  const HostDescription& host = word.place.host;
  Json json = {{"workload", word.place.workload},
               {"unit", word.place.unit},
               {"host", {{"model", host.model}, {"cpu", host.cpu}, {"cores", host.cores}}},
               {"word", stock_gain_word(word.gain)}};
  if (word.measured == nullptr) return json;
  json["median"] = word.measured->median;
  json["rounds"] = word.measured->rounds;
  json["taken"] = word.measured->taken;
  const auto& over = word.measured->over_stock;
  if (!over) return json;
  json["ratio"] = over->ratio;
  json["low"] = over->low;
  json["high"] = over->high;
  json["stock"] = {{"key", over->key}};
  if (auto found = manifests.find(over->key); found != manifests.end())
    json["stock"]["manifest"] = found->second.text();
  return json;
}

}  // namespace

MeasuredPlaces measured_places(const std::vector<IndexEntry>& entries) {
  MeasuredPlaces places;
  for (const IndexEntry& entry : entries) {
    if (entry.measurements.empty()) continue;
    std::vector<MeasuredPlace>& known = places[lower_case(entry.image.application)];
    for (const Measurement& one : entry.measurements)
      if (std::none_of(known.begin(), known.end(),
                       [&](const MeasuredPlace& place) { return is_at(one, place); }))
        known.push_back({one.workload, one.unit, one.host});
  }
  for (auto& [application, known] : places)
    std::sort(known.begin(), known.end(), [](const MeasuredPlace& a, const MeasuredPlace& b) {
      return std::tie(a.workload, a.unit, a.host.model, a.host.cpu, a.host.cores) <
             std::tie(b.workload, b.unit, b.host.model, b.host.cpu, b.host.cores);
    });
  return places;
}

bool claims_gain(const ImageRecord& image) { return !image.external() && image.optimised; }

std::vector<StockWord> stock_words(const ImageRecord& image, const std::vector<Measurement>& measurements,
                                   const MeasuredPlaces& places) {
  std::vector<StockWord> words;
  if (!claims_gain(image)) return words;
  const auto known = places.find(lower_case(image.application));
  if (known == places.end()) return words;
  for (const MeasuredPlace& place : known->second) {
    StockWord word{place};
    for (const Measurement& one : measurements)
      if (is_at(one, place)) word.measured = &one;
    if (word.measured != nullptr) word.gain = stock_gain(*word.measured);
    words.push_back(std::move(word));
  }
  return words;
}

std::string gain_document(const ImageRecord& image, const std::vector<StockWord>& words,
                          const std::map<std::string, Digest>& manifests) {
  Json list = Json::array();
  std::set<StockGain> gains;
  for (const StockWord& word : words) {
    list.push_back(word_json(word, manifests));
    gains.insert(word.gain);
  }
  const Json document = {{"format", 1},
                         {"image", image.manifest.text()},
                         {"word", stock_gain_word(word_of_all(gains))},
                         {"rounds_needed", kProvingRounds},
                         {"words", std::move(list)}};
  return document.dump();
}

}  // namespace kiln
