// bench: a workload component run in built images, its samples summed up as Measurements.
#pragma once

#include <string>
#include <vector>

#include "image/build/step.h"
#include "registry/image_record.h"

namespace kiln {

// What a workload prints as its last line: {"unit": "ms/step", "samples": [..]}.
struct WorkloadOutput {
  std::string unit;
  std::vector<double> samples;
};

// Throws Error(images_failed) when the last line of `output` is not that.
WorkloadOutput read_workload_output(const std::string& output, const std::string& workload);

// Median and quartiles (linear interpolation between closest ranks).
struct Summary {
  double median = 0;
  double low = 0;
  double high = 0;
};
Summary summarise(std::vector<double> samples);  // REQUIRES: not empty

// How many processors are busy now, by the two readings of /proc/stat half a second apart; 0 where the kernel
// does not say.
double busy_processors(const std::string& before, const std::string& now);

struct BenchRequest {
  const ImageSpec& image;
  Digest manifest;  // of the published image
  const Recipe& workload;
  std::string method;  // of the workload
  HostDescription host;
};

// Runs the workload once in the image. Errors: images_failed (the workload failed; the message names the
// log).
Measurement measure(const BenchRequest& request, const StepSetup& setup);

}  // namespace kiln
