// Groups runs for figures: those that can be compared, and in each group the images with all of their runs.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/bench/session.h"
#include "factory/figures/bar_chart.h"

namespace kiln {

// An image with its runs, under one set of circumstances.
struct MeasuredImage {
  std::string name;  // repository:tag
  RunAxes axes;
  bool stock = false;
  int ranks = 1;
  int threads = 0;             // of each rank
  std::vector<BenchRun> runs;  // of the newest bits of that name, in its last session; never empty
  std::size_t earlier = 0;     // other runs of that name: of earlier bits, of other sessions, disturbed
  std::vector<SessionRuns> sessions;  // of the newest bits, the last one last
  std::vector<std::string> marks;     // of any of the runs, sorted
  BarValue speed;                     // median of the runs' medians, and its interval of 95 %
  bool compiled() const { return !axes.compilers.empty(); }
};

// Properties that two bars must share to be compared. Another unit, host or number of threads makes another
// picture.
struct Circumstances {
  std::string workload;
  std::string unit;
  std::string host;         // "AMD EPYC 7B13, 2 processors"
  std::string accelerator;  // that the images are for, "cpu"
  int threads = 0;
  std::string batch;  // "batch of 128", "" where the workload does not say
  std::string input;  // "synthetic", "" where the workload does not say

  auto operator<=>(const Circumstances&) const = default;
};

struct MeasuredSet {
  Circumstances circumstances;
  std::vector<MeasuredImage> images;  // by framework, version, stock first, method, compilers, name, ranks
  std::string first_day, last_day;    // of the runs: "2026-11-24"
  std::vector<std::string> versions;  // of kiln that measured, sorted
};

// In the order of their circumstances. Throws Error(input) for a unit that is neither a time nor a rate.
std::vector<MeasuredSet> measured_sets(const std::vector<BenchRun>& runs);

// The lines about the set below a picture's title.
std::vector<std::string> circumstance_lines(const MeasuredSet& set);

// "tensorflow 2.1.0"; "" where the image has neither.
std::string framework_text(const RunAxes& axes);

// Distinguishes an image from others of its framework and version: "distro-openblas-x86_64" of
// pytorch:2.6.0-distro-openblas-x86_64.
std::string short_name(const MeasuredImage& image);

// B against A: over 1 when B is faster; nullopt: they were never measured in turns. REQUIRES: both of one
// set.
std::optional<MeasuredGain> compare_images(const MeasuredImage& a, const MeasuredImage& b);

}  // namespace kiln
