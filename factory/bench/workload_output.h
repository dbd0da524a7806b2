// Reads the output of a workload, and decides the order in which images take turns. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

// A measurement of a workload.
struct WorkloadMetric {
  std::string name;  // decode; "" of a workload that measures one thing
  std::string unit;
  std::vector<double> samples;  // positive, at least one
  std::optional<double> first;  // the first step
};

// The last line that a workload prints: {"unit": "ms/step", "samples": [..], …}, or
// {"metrics": {"decode": {"unit": "tokens/s", "samples": [..]}, …}, …} (docs/measure.md).
struct WorkloadOutput {
  std::vector<WorkloadMetric> metrics;  // by their names, at least one
  int threads = 0;                      // that it used, 0: it does not say
  nlohmann::json rest;                  // the object without its samples
};

// Throws Error(images_failed) if the last line of `output` has another form, if it has a number that no clock
// can show, or if the workload reports a wrong result.
WorkloadOutput read_workload_output(const std::string& output, const std::string& workload);

// One run of a comparison.
struct Turn {
  int round = 0;
  std::size_t image = 0;  // in the order of the comparison
  bool operator==(const Turn&) const = default;
};

// A B, B A, A B, …: what drifts with time meets each image as early as late.
std::vector<Turn> interleaved(std::size_t images, int rounds);

// "A" of 0, "B" of 1, …, "AA" of 26.
std::string place_name(std::size_t image);

}  // namespace kiln
