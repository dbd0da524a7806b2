// The order among images that qualify: docs/selection.md, "Which image is best". Pure; total, so that the
// answer never depends on the order of the entries.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "factory/record/gpu_code.h"
#include "registry/select/comparable.h"
#include "registry/select/cpu_code.h"
#include "registry/select/host_clauses.h"
#include "registry/select/select.h"

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

// How an image's code suits where it is to run.
struct CodeFit {
  std::size_t accelerators = 0;  // that nobody asked for
  GpuFit gpu;                    // equal for all where no GPU is named
  GpuReach gpu_reach;
  std::optional<CpuFit> cpu;  // nullopt: no host, cpu_reach decides
  CpuReach cpu_reach;
};

// All that decides between images, but for their names.
struct ImageStanding {
  bool pre_release = false;  // and none was asked for
  bool measured = false;
  int speed_class = 0;
  bool stock = false;  // where an optimised build is asked for
  CodeFit code;
  const Version* version = nullptr;
  int doubt = 0;  // 1: not tested on a host like this one; kDoubtful: stale, or not tested in full anywhere
};
inline constexpr int kDoubtful = 2;

struct Difference {
  std::strong_ordering order;  // less: the first is better
  Preference by;               // `name` when they are equal
};
Difference difference(const ImageStanding& a, const ImageStanding& b);

// One question on one host, about many images: what depends on those alone is found once. The arguments
// outlive it.
class Ranker {
 public:
  Ranker(const ImageQuery& query, const std::optional<KnownHost>& host, const Microarchitectures& cpus);
  // Each takes a record, or the part of one that it is about (image_parts.h).
  CodeFit code(const ImageRecord& place) const;
  ImageStanding standing(const ImageRecord& choice, const CodeFit& code, const Speed& speed, int doubt) const;
  // ImageStanding::doubt of one that is not stale, by the kinds of machines that it was tested on
  // (test_kinds()).
  int doubt(const ImageRecord& choice, const std::optional<TestsRecord>& kinds) const;

 private:
  static CpuReach reach(const ImageRecord& image, const Microarchitecture& target);
  static GpuReach gpu_reach(const ImageRecord& image);
  GpuFit gpu(const ImageRecord& image, const Microarchitecture* target) const;

  const ImageQuery* query_;
  const Microarchitectures* cpus_;
  bool any_release_;
  // The processor and the GPUs that code is to be good for: the host's, or where there is none those that the
  // question names.
  const KnownHost* known_;  // nullptr: nothing is known of it
  HostDescription asked_;
  std::optional<HostCpu> cpu_;
};

struct Ranked {
  Candidate candidate;
  std::string name;
  Speed speed;
  ImageStanding standing;
};

// Best first. Sets Candidate::measured.
std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus);

// Of two that have different names, codes or manifests.
Preference first_difference(const Ranked& better, const Ranked& other);

}  // namespace kiln
