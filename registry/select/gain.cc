#include "registry/select/gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "factory/base/text.h"

namespace kiln {

namespace {

bool is_like(const Measurement& one, const Measurement& like) {
  return one.workload == like.workload && one.unit == like.unit && is_same_machine(one.host, like.host);
}

const MeasuredGain* gain_in(const Measurement& measurement, const std::string& key) {
  return find_where(measurement.gains, [&](const MeasuredGain& gain) { return gain.key == key; });
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

std::string gain_state(const Measurement* measured) {
  if (measured == nullptr) return "not measured where it compares";
  if (is_yardstick(*measured)) return "it is the stock image";
  const StockGain gain = stock_gain(*measured);
  if (gain != StockGain::not_measured)
    return fmt::format("{}: {}", stock_gain_word(gain), gain_text(*measured->over_stock, "its stock image"));
  if (!measured->over_stock) return "not measured in turns with its stock image";
  return fmt::format("measured in {}, and {} are needed",
                     counted(static_cast<std::size_t>(measured->rounds), "round"), kProvingRounds);
}

// The word for several: proven if one is, else no gain, else slower, else not measured.
static StockGain word_of_all(const std::set<StockGain>& gains) {
  for (StockGain gain : {StockGain::proven, StockGain::no_gain, StockGain::slower})
    if (gains.contains(gain)) return gain;
  return StockGain::not_measured;
}

StockGain gain_of_build(const IndexEntry& entry) {
  std::map<std::tuple<std::string, std::string, std::string, int>, StockGain> last;
  for (const Measurement& one : entry.measurements)  // by their time
    last[{one.workload, one.host.model, one.host.cpu, one.host.cores}] = stock_gain(one);
  std::set<StockGain> gains;
  for (const auto& [where, gain] : last) gains.insert(gain);
  return word_of_all(gains);
}

std::string build_words(const IndexEntry& entry) {
  if (entry.image.external()) return "mapping";
  if (!entry.image.optimised) return "stock build";
  switch (gain_of_build(entry)) {
    case StockGain::proven:
      return "optimised build, proven";
    case StockGain::no_gain:
      return "no gain over stock";
    case StockGain::slower:
      return "slower than stock";
    case StockGain::not_measured:
      break;
  }
  return "optimised build, gain not measured";
}

std::string build_word(const IndexEntry& entry, const Measurement* measured) {
  if (!entry.image.optimised) return "stock image";
  StockGain gain = measured == nullptr ? StockGain::not_measured : stock_gain(*measured);
  if (gain == StockGain::not_measured) gain = gain_of_build(entry);
  if (gain == StockGain::no_gain) return "a build without a gain over stock";
  return gain == StockGain::slower ? "a build slower than stock" : "optimised build";
}

namespace {

bool is_at(const Measurement& measurement, const MeasuredSetup& setup) {
  return measurement.workload == setup.workload && measurement.unit == setup.unit &&
         is_same_machine(measurement.host, setup.host);
}

Json word_json(const StockWord& word, const std::map<std::string, Digest>& manifests) {
  const HostDescription& host = word.setup.host;
  Json json = {{"workload", word.setup.workload},
               {"unit", word.setup.unit},
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

MeasuredSetups measured_setups(const std::vector<IndexEntry>& entries) {
  MeasuredSetups setups;
  for (const IndexEntry& entry : entries) {
    if (entry.measurements.empty()) continue;
    std::vector<MeasuredSetup>& known = setups[lower_case(entry.image.application)];
    for (const Measurement& one : entry.measurements)
      if (std::ranges::none_of(known, [&](const MeasuredSetup& setup) { return is_at(one, setup); }))
        known.push_back({one.workload, one.unit, one.host});
  }
  for (auto& [application, known] : setups)
    std::ranges::sort(known, [](const MeasuredSetup& a, const MeasuredSetup& b) {
      return std::tie(a.workload, a.unit, a.host.model, a.host.cpu, a.host.cores) <
             std::tie(b.workload, b.unit, b.host.model, b.host.cpu, b.host.cores);
    });
  return setups;
}

bool claims_gain(const ImageRecord& image) { return !image.external() && image.optimised; }

std::vector<StockWord> stock_words(const ImageRecord& image, const std::vector<Measurement>& measurements,
                                   const MeasuredSetups& setups) {
  std::vector<StockWord> words;
  if (!claims_gain(image)) return words;
  const auto known = setups.find(lower_case(image.application));
  if (known == setups.end()) return words;
  for (const MeasuredSetup& setup : known->second) {
    StockWord word{setup};
    for (const Measurement& one : measurements)
      if (is_at(one, setup)) word.measured = &one;
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
