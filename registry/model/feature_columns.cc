#include "registry/model/feature_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr double kMargin = 1.1;       // an amount may be so far outside what was seen
constexpr double kNothingNew = 1e-6;  // part of a column that others do not have: rounding

const double* amount_of(const SpeedRecord& record, std::string_view name) {
  return find_value(record.amounts, name);
}

// Nothing is a word as well: an image without graph compilers.
std::string word_of(const SpeedRecord& record, std::string_view name) { return value_or(record.words, name); }

std::string shown(const std::string& word) { return word.empty() ? "none" : word; }

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double norm_of(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

struct CandidateColumns {
  std::vector<ModelColumn> columns;
  std::vector<std::vector<double>> values;  // centred
  std::string constant;                     // what all records have; of columns that vary ""
};

CandidateColumns amount_columns(const ModelFeature& feature, std::span<const SpeedRecord> records) {
  CandidateColumns found;
  ModelColumn column{std::string(feature.name), "", 0, 1, INFINITY, 0};
  std::vector<double> values;
  for (const SpeedRecord& record : records) {
    const double amount = *amount_of(record, feature.name);
    values.push_back(std::log(amount));
    column.least = std::min(column.least, amount);
    column.most = std::max(column.most, amount);
  }
  if (column.most <= column.least * (1 + 1e-9)) {
    found.constant = fmt::format("{:g}", column.least);
    return found;
  }
  column.centre = mean_of(values);
  for (double& value : values) value -= column.centre;
  column.width = norm_of(values) / std::sqrt(static_cast<double>(values.size()));
  for (double& value : values) value /= column.width;
  found.columns.push_back(column);
  found.values.push_back(std::move(values));
  return found;
}

CandidateColumns word_columns(const ModelFeature& feature, std::span<const SpeedRecord> records) {
  CandidateColumns found;
  std::set<std::string> levels;
  for (const SpeedRecord& record : records) levels.insert(word_of(record, feature.name));
  if (levels.size() == 1) {
    found.constant = shown(*levels.begin());
    return found;
  }
  for (const std::string& level : levels) {
    std::vector<double> values;
    for (const SpeedRecord& record : records)
      values.push_back(word_of(record, feature.name) == level ? 1 : 0);
    const double centre = mean_of(values);
    for (double& value : values) value -= centre;
    found.columns.push_back({std::string(feature.name), shown(level), centre, 1, 0, 0});
    found.values.push_back(std::move(values));
  }
  return found;
}

}  // namespace

FeatureColumns::FeatureColumns(std::span<const SpeedRecord> records) {
  for (const ModelFeature& feature : model_features()) add(feature, records);
  basis_.clear();
}

void FeatureColumns::add(const ModelFeature& feature, std::span<const SpeedRecord> records) {
  const std::string name(feature.name);
  if (feature.amount) {
    const auto known = std::ranges::count_if(
        records, [&](const SpeedRecord& record) { return amount_of(record, feature.name) != nullptr; });
    if (known < static_cast<std::ptrdiff_t>(records.size())) {
      left_out_.push_back({name, fmt::format("is known of {} of {} records", known, records.size())});
      return;
    }
  }
  if (feature.kin) return add_kin(feature, records);
  CandidateColumns found = feature.amount ? amount_columns(feature, records) : word_columns(feature, records);
  if (found.columns.empty())
    left_out_.push_back({name, "is the same in all records: " + found.constant});
  else if (!is_new(found.values))
    left_out_.push_back({name, "says nothing that the features before it do not say"});
  else {
    columns_.insert(columns_.end(), found.columns.begin(), found.columns.end());
    if (feature.amount) return;
    words_.push_back({name, false, {}});
    for (const ModelColumn& column : found.columns) words_.back().levels.push_back(column.level);
  }
}

void FeatureColumns::add_kin(const ModelFeature& feature, std::span<const SpeedRecord> records) {
  std::set<std::string> levels;
  for (const SpeedRecord& record : records) levels.insert(shown(word_of(record, feature.name)));
  const std::string name(feature.name);
  if (levels.size() == 1)
    left_out_.push_back({name, "is the same in all records: " + *levels.begin()});
  else
    words_.push_back({name, true, {levels.begin(), levels.end()}});
}

int FeatureColumns::WordLevels::level_of(const SpeedRecord& record) const {
  const std::string word = shown(word_of(record, feature));
  const auto found = std::ranges::find(levels, word);
  return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
}

std::vector<std::string> FeatureColumns::kin() const {
  std::vector<std::string> names;
  for (const WordLevels& word : words_)
    if (word.kin) names.push_back(word.feature);
  return names;
}

// Gram and Schmidt, twice, as once leaves rounding behind.
bool FeatureColumns::is_new(const std::vector<std::vector<double>>& candidates) {
  const std::size_t before = basis_.size();
  for (std::vector<double> column : candidates) {
    const double whole = norm_of(column);
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& other : basis_) {
        const double part = std::inner_product(column.begin(), column.end(), other.begin(), 0.0);
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= part * other[i];
      }
    const double rest = norm_of(column);
    if (rest <= kNothingNew * whole) continue;
    for (double& value : column) value /= rest;
    basis_.push_back(std::move(column));
  }
  return basis_.size() > before;
}

std::vector<double> FeatureColumns::values(const SpeedRecord& record) const {
  std::vector<double> values;
  values.reserve(columns_.size());
  for (const ModelColumn& column : columns_)
    if (column.level.empty())
      values.push_back((std::log(*amount_of(record, column.feature)) - column.centre) / column.width);
    else
      values.push_back(-column.centre);
  // Of each word the columns of its levels follow each other; only that of its own level is set.
  std::size_t j = 0;
  for (const WordLevels& word : words_) {
    if (word.kin) continue;
    while (columns_[j].level.empty()) ++j;
    const int level = word.level_of(record);
    for (std::size_t i = 0; i < word.levels.size(); ++i, ++j)
      values[j] = level < 0 ? 0 : values[j] + (static_cast<int>(i) == level ? 1 : 0);
  }
  return values;
}

std::vector<std::string> FeatureColumns::unseen(const SpeedRecord& record) const {
  std::vector<std::string> found;
  for (const WordLevels& word : words_)
    if (!word.kin && word.level_of(record) < 0)
      found.push_back(fmt::format("{} '{}'", word.feature, shown(word_of(record, word.feature))));
  return found;
}

std::string FeatureColumns::no_data(const SpeedRecord& record) const {
  for (const ModelColumn& column : columns_) {
    if (!column.level.empty()) continue;
    const double* amount = amount_of(record, column.feature);
    if (amount == nullptr) return fmt::format("its {} is not known", column.feature);
    if (*amount < column.least / kMargin || *amount > column.most * kMargin)
      return fmt::format("its {} of {:g} is outside the measured range: {:g} to {:g}", column.feature,
                         *amount, column.least, column.most);
  }
  for (const std::string& text : unseen(record))
    if (find_model_feature(text.substr(0, text.find(' ')))->needed)
      return fmt::format("{} was never measured", text);
  for (const LeftOutFeature& feature : left_out_) {
    const ModelFeature& is = *find_model_feature(feature.name);
    const std::string same = "is the same in all records: ";
    if (!feature.why.starts_with(same)) continue;
    const std::string only = feature.why.substr(same.size());
    const double* amount = is.amount ? amount_of(record, feature.name) : nullptr;
    const std::string other = is.amount ? (amount == nullptr ? only : fmt::format("{:g}", *amount))
                                        : shown(word_of(record, feature.name));
    if ((is.amount || is.needed) && other != only)
      return fmt::format("its {} is {}, and all records have {}", feature.name, other, only);
  }
  return "";
}

ModelPoint FeatureColumns::point(const SpeedRecord& record) const {
  ModelPoint point;
  for (const ModelColumn& column : columns_) {
    if (!column.level.empty()) continue;
    const double* amount = amount_of(record, column.feature);
    point.amounts.push_back(amount == nullptr ? NAN : std::log(*amount) / column.width);
  }
  for (const WordLevels& word : words_) point.words.push_back(word.level_of(record));
  return point;
}

double distance_of(const ModelPoint& a, const ModelPoint& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.amounts.size(); ++i) {
    const double off = a.amounts[i] - b.amounts[i];
    sum += std::isnan(off) ? 1 : off * off;
  }
  for (std::size_t i = 0; i < a.words.size(); ++i)
    if (a.words[i] != b.words[i]) sum += 1;
  return sum;
}

}  // namespace kiln
