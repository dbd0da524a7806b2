#include "registry/model/speed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "factory/base/error.h"

namespace kiln {
namespace {

constexpr std::size_t kNeighbours = 5;
constexpr double kNearness = 0.001;      // of a squared distance: those that are nearer than that count alike
constexpr double kCovered = 0.9;         // of the predictions are within their interval
constexpr double kWordPenalty = 0.5;     // as half a record that says that the level is average
constexpr double kAmountPenalty = 0.01;  // keeps amounts apart that vary together

std::vector<SpeedRecord> checked(std::vector<SpeedRecord> records) {
  if (records.size() < kLeastRecords)
    throw Error(ExitCode::input,
                fmt::format("{} measured images are too few for a model: at least {} are needed",
                            records.size(), kLeastRecords),
                "`kiln bench` measures images");
  for (const SpeedRecord& record : records)
    if (!(std::isfinite(record.seconds) && record.seconds > 0))
      throw Error(ExitCode::input, fmt::format("{} has a time of {:g} s", record.image, record.seconds));
  if (std::all_of(records.begin(), records.end(),
                  [&](const SpeedRecord& record) { return record.seconds == records.front().seconds; }))
    throw Error(ExitCode::input,
                fmt::format("all {} records have the same time of {:g} s: there is nothing to learn",
                            records.size(), records.front().seconds));
  return records;
}

std::vector<double> penalties_of(const FeatureColumns& columns) {
  std::vector<double> penalties;
  for (const ModelColumn& column : columns.columns())
    penalties.push_back(column.level.empty() ? kAmountPenalty : kWordPenalty);
  return penalties;
}

}  // namespace

SpeedModel::SpeedModel(std::vector<SpeedRecord> records)
    : records_(checked(std::move(records))), columns_(records_) {
  if (columns_.columns().empty())
    throw Error(
        ExitCode::input,
        fmt::format("no feature varies in these {} records: there is nothing to learn", records_.size()));
  std::vector<std::vector<double>> rows;
  std::vector<double> observations;
  for (const SpeedRecord& record : records_) {
    rows.push_back(columns_.values(record));
    observations.push_back(std::log(record.seconds));
  }
  fit_ = robust_fit(rows, observations, penalties_of(columns_));
  for (std::size_t i = 0; i < rows.size(); ++i) residuals_.push_back(observations[i] - trend(rows[i]));
}

double SpeedModel::trend(const std::vector<double>& values) const {
  return std::inner_product(values.begin(), values.end(), fit_.coefficients.begin(), fit_.mean);
}

std::vector<std::size_t> SpeedModel::nearest(const SpeedRecord& question, std::size_t count) const {
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t i = 0; i < records_.size(); ++i)
    all.emplace_back(columns_.distance(question, records_[i]), i);
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(all[i].second);
  return places;
}

SpeedPrediction SpeedModel::predict(const SpeedRecord& question) const {
  SpeedPrediction prediction;
  prediction.no_data = columns_.no_data(question);
  if (!prediction.no_data.empty()) return prediction;
  const std::vector<double> values = columns_.values(question);
  const double linear = trend(values);
  double sum = 0, weights = 0;
  for (const std::size_t place : nearest(question, kNeighbours)) {
    const double weight = 1 / (kNearness + columns_.distance(question, records_[place]));
    sum += weight * residuals_[place];
    weights += weight;
  }
  const double logarithm = linear + sum / weights;
  prediction.trend = std::exp(linear);
  prediction.seconds = prediction.low = prediction.high = std::exp(logarithm);
  prediction.averages = columns_.unseen(question);
  if (!errors_.empty()) {
    // The error that so many of n + 1 are within, of n that were seen: never better than the worst of few.
    const double rank = std::ceil(kCovered * static_cast<double>(errors_.size() + 1));
    const double error = errors_[std::min(errors_.size(), static_cast<std::size_t>(rank)) - 1];
    prediction.low = std::exp(logarithm - error);
    prediction.high = std::exp(logarithm + error);
  }
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const ModelColumn& column = columns_.columns()[j];
    const bool is_level = column.level.empty() || values[j] > 0;
    const double part = fit_.coefficients[j] * values[j];
    if (is_level && std::abs(part) >= 0.01)
      parts.emplace_back(-std::abs(part),
                         fmt::format("{}{}: time times {:.2f}", column.feature,
                                     column.level.empty() ? "" : " " + column.level, std::exp(part)));
  }
  std::sort(parts.begin(), parts.end());
  for (auto& [size, text] : parts) prediction.reasons.push_back(std::move(text));
  return prediction;
}

void SpeedModel::set_errors(std::vector<double> logarithms) {
  for (double& error : logarithms) error = std::abs(error);
  std::sort(logarithms.begin(), logarithms.end());
  errors_ = std::move(logarithms);
}

std::vector<std::string> SpeedModel::lines() const {
  std::vector<std::string> lines;
  for (std::size_t j = 0; j < fit_.coefficients.size(); ++j) {
    const ModelColumn& column = columns_.columns()[j];
    const double scale = column.level.empty() ? std::log(2) / column.width : 1;
    const double value = fit_.coefficients[j] * scale, error = 2 * fit_.errors[j] * scale;
    const std::string range = fmt::format("time times {:.2f} ({:.2f} to {:.2f})", std::exp(value),
                                          std::exp(value - error), std::exp(value + error));
    lines.push_back(column.level.empty()
                        ? fmt::format("twice the {}: {}", column.feature, range)
                        : fmt::format("{} {} over the average: {}", column.feature, column.level, range));
  }
  return lines;
}

}  // namespace kiln
