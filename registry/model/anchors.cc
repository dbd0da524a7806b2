#include "registry/model/anchors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "factory/base/median.h"
#include "factory/base/text.h"
#include "registry/model/speed_model.h"

namespace kiln {
namespace {

constexpr double kRatioPenalty = 0.3;  // draws the few anchors' slopes to 0
constexpr double kFarAnchors = 1;      // squared distance at which an anchor counts half
constexpr const char* kOfAStep[] = {"operations", "activations", "input_bytes"};

double batch_of(const SpeedRecord& record) { return value_or(record.amounts, "batch", 1); }

double sample_logarithm(const SpeedRecord& record) { return std::log(record.seconds / batch_of(record)); }

std::string_view family_of(const SpeedRecord& record) {
  const auto found = record.words.find("network_family");
  return found == record.words.end() ? std::string_view{} : found->second;
}

// One coordinate of all workloads, in its deviations; empty: it is not known of all, or does not vary.
std::vector<double> standardised(std::vector<double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (double& value : values) {
    value -= mean;
    squares += value * value;
  }
  const double width = std::sqrt(squares / count);
  if (!(width > 1e-9)) return {};
  for (double& value : values) value /= width;
  return values;
}

std::vector<double> amounts_of(const std::vector<SpeedRecord>& known, const char* name, bool of_a_step) {
  std::vector<double> values;
  for (const SpeedRecord& record : known) {
    const auto found = record.amounts.find(name);
    if (found == record.amounts.end()) return {};
    values.push_back(std::log(found->second / (of_a_step ? batch_of(record) : 1)));
  }
  return standardised(std::move(values));
}

// A row for each workload: its amounts and its time, of a sample.
std::vector<std::vector<double>> rows_of(const std::vector<SpeedRecord>& known) {
  std::vector<std::vector<double>> columns;
  for (const char* name : kOfAStep) columns.push_back(amounts_of(known, name, true));
  columns.push_back(amounts_of(known, "parameters", false));
  std::vector<double> times;
  for (const SpeedRecord& record : known) times.push_back(sample_logarithm(record));
  columns.push_back(standardised(std::move(times)));
  std::vector<std::vector<double>> rows(known.size());
  for (const auto& column : columns)
    for (std::size_t i = 0; i < column.size(); ++i) rows[i].push_back(column[i]);
  return rows;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

int shared_words(const SpeedSeries& a, const SpeedSeries& b) {
  int shared = 0;
  for (const auto& [name, word] : a.records.front().words) {
    if (name == "network_family" || name == "workload") continue;
    const auto other = b.records.front().words.find(name);
    if (other != b.records.front().words.end() && other->second == word) ++shared;
  }
  return shared;
}

SeriesPair common_of(const SpeedSeries& known, const SpeedSeries& there) {
  SeriesPair pair;
  auto one = known.records.begin();
  for (const SpeedRecord& record : there.records) {
    while (one != known.records.end() && one->workload < record.workload) ++one;
    if (one == known.records.end() || one->workload != record.workload) continue;
    pair.known.push_back(*one);
    pair.there.push_back(record);
  }
  return pair;
}

bool has_workloads_of(const SeriesPair& a, const SeriesPair& b) {
  return std::ranges::equal(a.known, b.known, {}, &SpeedRecord::workload, &SpeedRecord::workload);
}

}  // namespace

std::vector<SpeedSeries> speed_series(std::span<const SpeedRecord> records) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, SpeedRecord>> found;
  for (const SpeedRecord& record : records)
    found[{record.host, record.image}].emplace(record.workload, record);
  std::vector<SpeedSeries> all;
  for (auto& [name, by_workload] : found) {
    all.push_back({name.first, name.second, {}});
    for (auto& [workload, record] : by_workload) all.back().records.push_back(std::move(record));
  }
  return all;
}

std::vector<SeriesPair> nearest_series(const SpeedSeries& there, std::span<const SpeedSeries> others,
                                       std::size_t least) {
  std::vector<SeriesPair> best;
  std::pair<int, std::size_t> most{-1, 0};
  for (const SpeedSeries& other : others) {
    SeriesPair pair = common_of(other, there);
    const std::pair<int, std::size_t> shares{shared_words(there, other), pair.there.size()};
    if (pair.there.empty() || pair.there.size() < least || shares < most) continue;
    if (shares > most) best.clear();
    most = shares;
    if (best.empty() || has_workloads_of(pair, best.front())) best.push_back(std::move(pair));
  }
  return best;
}

const SeriesPair& best_pair(const std::vector<SeriesPair>& pairs, const std::vector<std::size_t>& anchors) {
  if (pairs.size() == 1) return pairs.front();
  return *std::ranges::min_element(
      pairs, {}, [&](const SeriesPair& pair) { return AnchoredModel(pair, anchors).error(); });
}

// Each next one is that which brings all workloads nearest to an anchor.
std::vector<std::size_t> choose_anchors(const std::vector<SpeedRecord>& known, std::size_t count) {
  const auto rows = rows_of(known);
  std::vector<float> distances(rows.size() * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      distances[i * rows.size() + j] = distances[j * rows.size() + i] =
          static_cast<float>(std::sqrt(squared_distance(rows[i], rows[j])));
  std::vector<float> nearest(rows.size(), 1e9F);
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, rows.size())) {
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double sum = !contains(chosen, i) ? 0 : INFINITY;
      for (std::size_t j = 0; j < rows.size() && sum < least; ++j)
        sum += std::min(nearest[j], distances[i * rows.size() + j]);
      if (sum < least) std::tie(best, least) = std::pair(i, sum);
    }
    chosen.push_back(best);
    for (std::size_t j = 0; j < rows.size(); ++j)
      nearest[j] = std::min(nearest[j], distances[best * rows.size() + j]);
  }
  return chosen;
}

double AnchoredModel::Line::at(const Row& row) const {
  double value = mean;
  for (std::size_t j = 0; j < row.size(); ++j) value += coefficients[j] * (row[j] - centre[j]);
  return value;
}

AnchoredModel::AnchoredModel(const SeriesPair& pair, std::vector<std::size_t> anchors)
    : pair_(pair), anchors_(std::move(anchors)), rows_(rows_of(pair.known)) {
  for (const std::size_t anchor : anchors_)
    ratios_.push_back(sample_logarithm(pair_.there[anchor]) - sample_logarithm(pair_.known[anchor]));
  median_ = median_of(ratios_);
  std::vector<std::size_t> places(anchors_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  line_ = fit(places);
  if (anchors_.size() < 2) return;
  error_ = error_without_each(false);
  if (anchors_.size() < kFewestAnchors) return;
  const double by_line = error_without_each(true);
  is_linear_ = by_line < error_;
  error_ = std::min(error_, by_line);
}

// `anchors`: places in anchors_.
AnchoredModel::Line AnchoredModel::fit(std::span<const std::size_t> anchors) const {
  Line line;
  line.centre.assign(rows_.front().size(), 0);
  for (const std::size_t anchor : anchors)
    for (std::size_t j = 0; j < line.centre.size(); ++j)
      line.centre[j] += rows_[anchors_[anchor]][j] / static_cast<double>(anchors.size());
  std::vector<Row> rows;
  std::vector<double> observations;
  for (const std::size_t anchor : anchors) {
    rows.push_back(rows_[anchors_[anchor]]);
    for (std::size_t j = 0; j < line.centre.size(); ++j) rows.back()[j] -= line.centre[j];
    observations.push_back(ratios_[anchor]);
  }
  const RobustFit fit = robust_fit(rows, observations, Row(line.centre.size(), kRatioPenalty));
  line.mean = fit.mean;
  line.coefficients = fit.coefficients;
  return line;
}

double AnchoredModel::error_without_each(bool by_line) const {
  double sum = 0;
  for (std::size_t left = 0; left < anchors_.size(); ++left) {
    std::vector<std::size_t> others;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < anchors_.size(); ++i)
      if (i != left) {
        others.push_back(i);
        ratios.push_back(ratios_[i]);
      }
    const double predicted = by_line ? fit(others).at(rows_[anchors_[left]]) : median_of(ratios);
    sum += std::abs(predicted - ratios_[left]);
  }
  return sum / static_cast<double>(anchors_.size());
}

AnchoredTime AnchoredModel::predict(std::size_t place) const {
  const double batch = batch_of(pair_.there[place]), elsewhere = sample_logarithm(pair_.known[place]);
  const double linear = line_.at(rows_[place]);
  double residuals = 0, weights = 0;
  for (std::size_t i = 0; i < anchors_.size(); ++i) {
    const std::size_t anchor = anchors_[i];
    const bool strange = family_of(pair_.known[anchor]) != family_of(pair_.known[place]);
    const double distance = squared_distance(rows_[place], rows_[anchor]) + (strange ? 1 : 0);
    const double weight = 1 / (kFarAnchors + distance);
    residuals += weight * (ratios_[i] - line_.at(rows_[anchor]));
    weights += weight;
  }
  const double ratio = is_linear_ ? linear + residuals / weights : median_;
  return {batch * std::exp(elsewhere + ratio), batch * std::exp(elsewhere + linear),
          batch * std::exp(elsewhere), batch * std::exp(elsewhere + median_), is_linear_};
}

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
