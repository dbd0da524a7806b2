// The performance model: a robust linear trend of the logarithm of the time of a step, and on it what
// the nearest measured records are off. Pure and deterministic.
#pragma once

#include <string>
#include <vector>

#include "registry/model/feature_columns.h"

namespace kiln {

// Linear regression that single wrong measurements do not bend. The only place that knows Eigen. Pure.
struct RobustFit {
  double mean = 0;                   // of the observations, where all columns are 0
  std::vector<double> coefficients;  // of each column
  std::vector<double> errors;        // their standard errors
};

// Huber's loss by reweighted least squares: what is more than 1.345 deviations off counts by its distance,
// not by its square. `penalties`, one for each column, draw its coefficient to 0: they keep levels of words,
// which few records have, from being taken at their word. REQUIRES: a row for each observation, a column for
// each penalty; columns average 0; penalties are over 0.
RobustFit robust_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& observations,
                     const std::vector<double>& penalties);

struct SpeedPrediction {
  std::string no_data;                    // why there is none; nothing else is set then
  double seconds = 0, low = 0, high = 0;  // of a step; nine in ten are between low and high
  bool has_interval = false;          // false: the check had no errors to make one of; low = seconds = high
  double trend = 0;                   // seconds of the linear part alone
  std::vector<std::string> reasons;   // the features that made it, the strongest first
  std::vector<std::string> averages;  // words that were never measured, for which the average stands
};

inline constexpr std::size_t kLeastRecords = 8;

class SpeedModel {
 public:
  // Throws Error(input) for fewer than kLeastRecords, times that are no number over 0, times that are all
  // equal, and records of which no feature varies.
  explicit SpeedModel(std::vector<SpeedRecord> records);

  SpeedPrediction predict(const SpeedRecord& question) const;  // without its interval: see with_interval()
  // The interval from what images that were left out turned out to be. Empty: not known yet.
  void set_errors(std::vector<double> logarithms);

  const FeatureColumns& columns() const { return columns_; }
  const RobustFit& fit() const { return fit_; }
  const std::vector<SpeedRecord>& records() const { return records_; }
  // A line for each column: "time times 1.82 for twice the parameters (1.70 to 1.95)".
  std::vector<std::string> lines() const;

 private:
  struct Neighbour {
    double distance = 0;  // squared
    std::size_t place = 0;
    auto operator<=>(const Neighbour&) const = default;
  };
  // Of the records the nearest to `question`; ties by their order.
  std::vector<Neighbour> neighbours(const SpeedRecord& question, std::size_t count) const;
  double trend(const std::vector<double>& values) const;

  std::vector<SpeedRecord> records_;
  FeatureColumns columns_;
  std::vector<ModelPoint> points_;  // of the records
  RobustFit fit_;
  std::vector<double> residuals_;
  std::vector<double> errors_;  // absolute logarithms, sorted
};

}  // namespace kiln
