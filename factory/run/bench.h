// bench: a workload component run in built images, each start kept as a run and summed up as a Measurement.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "factory/record/image_record.h"
#include "factory/run/step.h"

namespace kiln {

// What a workload is asked for, beside its defaults.
struct WorkloadWishes {
  int steps = 0;  // timed ones, 0: as many as it likes
  int ranks = 0;  // processes that work together, 0: one
  fs::path data;  // real input in place of synthetic, "" = none
  bool operator==(const WorkloadWishes&) const = default;
};

struct BenchRequest {
  const ImageSpec& image;
  Digest manifest;  // of the published image
  const Recipe& workload;
  WorkloadWishes wishes;
  bool stock;  // is_stock() of the image
  HostDescription host;
  std::string kiln;  // our version
  int round = 0;
  std::string place;
  std::string session;                            // BenchRun::session
  std::string workload_files;                     // BenchRun::workload_files
  std::map<std::string, std::string> settings{};  // variables in place of the image's own
  std::chrono::seconds wall{0};                   // ended after it; 0: the site's limit
};

RunAxes run_axes(const ImageSpec& image);

// Whether the image has its framework as the framework's own project publishes it: installed by a method
// that is marked so, or come with a base that is, and run without a graph compiler, a runtime, and a part
// that claims to be faster.
bool is_stock(const ImageSpec& image, const RecipeBook& recipes);

// Starts the workload once in the image, without the variables that tune it from outside, and finds where
// its warm-up ends. A run for each of its metrics, at least one. What disturbed it is in the marks. Errors:
// images_failed (the workload failed, or printed nothing that can be believed; the message names the log),
// timeout (it was ended after request.wall), interrupted.
std::vector<BenchRun> run_workload(const BenchRequest& request, const StepSetup& setup);

}  // namespace kiln
