#include "registry/model/anchored_prediction.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kiln {
namespace {

// Nine in ten of the errors of a normal distribution are within this many of their mean size.
constexpr double kNineInTen = 1.645 * 1.2533;

bool is_of_workload(std::string_view word) { return word == "workload" || word == "network_family"; }

bool has_workload(const SpeedSeries& series, const std::string& workload) {
  return std::ranges::any_of(series.records,
                             [&](const SpeedRecord& record) { return record.workload == workload; });
}

// A record of a run has a host, one of a table the word `host`.
bool is_asked(const SpeedSeries& series, const SpeedRecord& question) {
  if (question.host.empty() ? !question.words.contains("host") : series.host != question.host) return false;
  const auto& words = series.records.front().words;
  return std::ranges::all_of(question.words, [&](const auto& word) {
    const auto known = words.find(word.first);
    return is_of_workload(word.first) || (known != words.end() && known->second == word.second);
  });
}

std::optional<SpeedSeries> series_of(const std::vector<SpeedSeries>& all, const SpeedRecord& question) {
  std::optional<SpeedSeries> found;
  for (const SpeedSeries& series : all) {
    if (!is_asked(series, question)) continue;
    if (found) return std::nullopt;
    found = series;
  }
  return found;
}

// `there` with the question in its place, as a workload of 1 s: only times of anchors are read there.
SpeedSeries with_question(SpeedSeries there, SpeedRecord question) {
  question.seconds = 1;
  question.host = there.host;
  question.image = there.image;
  const auto place = std::ranges::lower_bound(there.records, question.workload, {}, &SpeedRecord::workload);
  there.records.insert(place, std::move(question));
  return there;
}

}  // namespace

std::optional<AnchoredPrediction> predict_with_anchors(std::span<const SpeedRecord> records,
                                                       const SpeedRecord& question, std::size_t least) {
  const std::vector<SpeedSeries> all = speed_series(records);
  const auto there = series_of(all, question);
  if (!there || has_workload(*there, question.workload)) return std::nullopt;
  std::vector<SpeedSeries> others;
  for (const SpeedSeries& other : all)
    if (has_workload(other, question.workload)) others.push_back(other);
  const auto pairs = nearest_series(with_question(*there, question), others, least + 1);
  if (pairs.empty()) return std::nullopt;
  std::size_t place = 0;
  std::vector<std::size_t> anchors;
  for (std::size_t i = 0; i < pairs.front().there.size(); ++i) {
    if (pairs.front().there[i].workload == question.workload)
      place = i;
    else
      anchors.push_back(i);
  }
  const SeriesPair& pair = best_pair(pairs, anchors);
  const AnchoredModel model(pair, anchors);
  const AnchoredTime time = model.predict(place);
  const double margin = std::exp(kNineInTen * model.error());
  const SpeedRecord& elsewhere = pair.known[place];
  return AnchoredPrediction{time.seconds,   time.seconds / margin, time.seconds * margin, anchors.size(),
                            there->host,    there->image,          elsewhere.host,        elsewhere.image,
                            time.elsewhere, time.by_line};
}

}  // namespace kiln
