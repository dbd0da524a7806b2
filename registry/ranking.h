// The order among images that qualify: docs/selection.md, "The best of those". Pure; total, so that the
// answer never depends on the order of the entries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registry/comparable.h"
#include "registry/cpu_code.h"
#include "registry/gpu_code.h"
#include "registry/select.h"

namespace kiln {

// Why one image stands before another: the first of these in which they differ. A predicted speed will stand
// behind `speed`.
enum class Preference {
  released,
  measured,
  speed,
  optimised,
  fewer_accelerators,
  gpu_code,
  gpu_reach,
  cpu_code,
  cpu_reach,
  version,
  state,
  name
};

// How few GPUs an image leaves out: less is better.
struct GpuReach {
  bool named = false;  // it is for certain ones
  int lowest = 0;      // compute capability; 0 where there is none
  std::size_t fewer_targets = 0;
  auto operator<=>(const GpuReach&) const = default;
};

struct Ranked {
  Candidate candidate;
  std::string name;
  bool pre_release = false;  // and none was asked for
  Speed speed;
  GpuFit gpu;  // equal for all where no GPU is named
  GpuReach gpu_reach;
  std::optional<CpuFit> cpu;  // nullopt: no host, cpu_reach decides
  CpuReach cpu_reach;
  bool doubtful = false;  // stale, or not tested here
};

// Best first. Sets Candidate::measured.
std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus);

Preference first_difference(const ImageQuery& query, const Ranked& better, const Ranked& other);

}  // namespace kiln
