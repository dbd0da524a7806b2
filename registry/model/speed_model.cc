#include "registry/model/speed_model.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "factory/base/error.h"
#include "factory/base/median.h"

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
  if (std::ranges::all_of(
          records, [&](const SpeedRecord& record) { return record.seconds == records.front().seconds; }))
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
    points_.push_back(columns_.point(record));
    observations.push_back(std::log(record.seconds));
  }
  fit_ = robust_fit(rows, observations, penalties_of(columns_));
  for (std::size_t i = 0; i < rows.size(); ++i) residuals_.push_back(observations[i] - trend(rows[i]));
}

double SpeedModel::trend(const std::vector<double>& values) const {
  return std::inner_product(values.begin(), values.end(), fit_.coefficients.begin(), fit_.mean);
}

std::vector<SpeedModel::Neighbour> SpeedModel::neighbours(const SpeedRecord& question,
                                                          std::size_t count) const {
  const ModelPoint point = columns_.point(question);
  std::vector<Neighbour> all;
  all.reserve(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) all.push_back({distance_of(point, points_[i]), i});
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  all.resize(count);
  return all;
}

SpeedPrediction SpeedModel::predict(const SpeedRecord& question) const {
  SpeedPrediction prediction;
  prediction.no_data = columns_.no_data(question);
  if (!prediction.no_data.empty()) return prediction;
  const std::vector<double> values = columns_.values(question);
  const double linear = trend(values);
  double sum = 0, weights = 0;
  for (const Neighbour& neighbour : neighbours(question, kNeighbours)) {
    const double weight = 1 / (kNearness + neighbour.distance);
    sum += weight * residuals_[neighbour.place];
    weights += weight;
  }
  const double logarithm = linear + sum / weights;
  prediction.trend = std::exp(linear);
  prediction.seconds = prediction.low = prediction.high = std::exp(logarithm);
  prediction.averages = columns_.unseen(question);
  prediction.has_interval = !errors_.empty();
  if (prediction.has_interval) {
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
  std::ranges::sort(parts);
  for (auto& [size, text] : parts) prediction.reasons.push_back(std::move(text));
  return prediction;
}

void SpeedModel::set_errors(std::vector<double> logarithms) {
  for (double& error : logarithms) error = std::abs(error);
  std::ranges::sort(logarithms);
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

namespace {

constexpr double kHuber = 1.345;  // 95 % as efficient as least squares where errors are normal
constexpr int kRounds = 30;

double median_of_absolute(const Eigen::VectorXd& values) {
  std::vector<double> sizes(values.data(), values.data() + values.size());
  for (double& value : sizes) value = std::abs(value);
  return median_in(sizes);
}

// The first column is the mean's.
Eigen::MatrixXd design_of(const std::vector<std::vector<double>>& rows, std::size_t columns) {
  Eigen::MatrixXd design(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns + 1));
  design.col(0).setOnes();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j)
      design(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j + 1)) = rows[i][j];
  return design;
}

}  // namespace

RobustFit robust_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& observations,
                     const std::vector<double>& penalties) {
  const Eigen::MatrixXd design = design_of(rows, penalties.size());
  const Eigen::VectorXd seen =
      Eigen::Map<const Eigen::VectorXd>(observations.data(), static_cast<Eigen::Index>(observations.size()));
  Eigen::VectorXd ridge = Eigen::VectorXd::Zero(design.cols());
  for (std::size_t j = 0; j < penalties.size(); ++j) ridge(static_cast<Eigen::Index>(j + 1)) = penalties[j];
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(design.rows()), solution, residuals;
  Eigen::MatrixXd squares, normal;
  double scale = 0;
  for (int round = 0; round < kRounds; ++round) {
    squares = design.transpose() * weights.asDiagonal() * design;
    normal = squares;
    normal.diagonal() += ridge;
    const Eigen::VectorXd next = normal.ldlt().solve(design.transpose() * weights.asDiagonal() * seen);
    const bool settled = round > 0 && (next - solution).norm() <= 1e-10 * (1 + next.norm());
    solution = next;
    residuals = seen - design * solution;
    scale = std::max(1e-9, median_of_absolute(residuals) / 0.6745);
    if (settled) break;
    weights = (kHuber * scale / residuals.array().abs().max(1e-12)).min(1.0).matrix();
  }
  const Eigen::MatrixXd inverse =
      normal.ldlt().solve(Eigen::MatrixXd::Identity(normal.rows(), normal.cols()));
  const double free = std::max(1.0, static_cast<double>(design.rows()) - (inverse * squares).trace());
  const double variance = (weights.array() * residuals.array().square()).sum() / free;
  const Eigen::VectorXd spread = (inverse * squares * inverse).diagonal() * variance;
  RobustFit fit;
  fit.mean = solution(0);
  for (Eigen::Index j = 1; j < solution.size(); ++j) {
    fit.coefficients.push_back(solution(j));
    fit.errors.push_back(std::sqrt(std::max(0.0, spread(j))));
  }
  return fit;
}

}  // namespace kiln
