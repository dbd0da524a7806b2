#include "registry/model/robust_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kHuber = 1.345;  // 95 % as efficient as least squares where errors are normal
constexpr int kRounds = 30;

double median_of_absolute(const Eigen::VectorXd& values) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  for (double& value : sorted) value = std::abs(value);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
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
