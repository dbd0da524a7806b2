// Statistics of runs: the end of their warm-up, the speed of an image, and its ratio to another. Pure and
// deterministic: the same samples give the same answer, on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kiln {

// Median and quartiles (linear interpolation between closest ranks).
struct Summary {
  double median = 0;
  double low = 0;
  double high = 0;
};
Summary summarise(std::vector<double> samples);  // REQUIRES: not empty

// Where a run becomes steady.
struct WarmUp {
  std::size_t length = 0;  // samples before the first steady one, fewer than there are
  bool settled = true;     // not, when no more than half of the run is at its last level
};

// The run is cut into levels by change points (bench/change_points.h); steady is what follows the first level
// that is within 5 % of the last one. The comparison of levels with the last one follows Barrett and others,
// "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017 (arXiv 1602.00602); they find levels by PELT. A
// short level at the end, for example one slow step, does not count.
WarmUp find_warm_up(std::span<const double> samples);

// The steady samples of several runs of one image.
using SteadyRuns = std::vector<std::vector<double>>;

// How many times as fast B is as A.
struct Comparison {
  double a = 0;  // medians, in their unit
  double b = 0;
  double ratio = 1;  // over 1: B is faster
  double low = 1;    // 95 % of the draws are between these
  double high = 1;
  bool different() const { return low > 1 || high < 1; }  // else: no difference
};

// The interval is a hierarchical bootstrap's: each of 2,000 draws takes runs with replacement, and samples
// within each, and compares again; the middle 95 % of the ratios is the interval. Resampling on each level of
// repetition: Kalibera and Jones, "Quantifying Performance Changes with Effect Size Confidence Intervals",
// 2012 (arXiv 2007.10899). Differences between starts show only with several runs. REQUIRES: both have a run,
// and none is empty; positive samples of one unit.
Comparison compare_runs(const SteadyRuns& a, const SteadyRuns& b, bool more_is_better);

}  // namespace kiln
