// Linear regression that single wrong measurements do not bend. The only place that knows Eigen. Pure.
#pragma once

#include <vector>

namespace kiln {

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

}  // namespace kiln
