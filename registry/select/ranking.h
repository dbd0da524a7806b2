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

// Why one image stands before another: the first of these in which they differ.
enum class Preference {
  released,
  gain,
  measured,
  speed,
  prediction,
  machine_code,
  optimised,
  fewer_accelerators,
  gpu_code,
  gpu_reach,
  cpu_code,
  cpu_reach,
  version,
  state,
  fewer_components,
  cuda,
  name
};

// How few GPUs an image leaves out: less is better.
struct GpuReach {
  bool named = false;  // it is for certain ones
  int lowest = 0;      // compute capability; 0 if no accelerator has one
  std::size_t fewer_targets = 0;
  auto operator<=>(const GpuReach&) const = default;
};

// How good the CUDA is that an image's GPU code was made with: less is better.
struct CudaFit {
  bool known = false;
  Version least_driver;  // without a host; else empty for all
  Version cuda;
};
std::strong_ordering operator<=>(const CudaFit& a, const CudaFit& b);

// How an image's code suits where it is to run.
struct CodeFit {
  std::size_t accelerators = 0;  // that were not asked for
  GpuFit gpu;                    // equal for all where no GPU is named
  GpuReach gpu_reach;
  std::optional<CpuFit> cpu;  // nullopt: no host, cpu_reach decides
  CpuReach cpu_reach;
  CudaFit cuda;
};

// Where an optimised build is asked for: what is known of its gain over stock. Less is better; else
// `unknown`.
enum class GainRank {
  proven,
  unknown,
  none,   // it is the stock image, measured, or is as fast
  slower  // than stock
};

// All that decides between images, but for their names.
struct ImageStanding {
  bool pre_release = false;  // and none was asked for
  GainRank gain = GainRank::unknown;
  bool measured = false;
  int speed_class = 0;
  int predicted_class = 0;  // of one that is not measured; 0: as fast as the fastest, as far as is known
  bool by_ptx = false;      // where an optimised build is asked for: a GPU has to compile its code
  bool stock = false;       // where an optimised build is asked for
  CodeFit code;
  const Version* version = nullptr;
  int doubt = 0;  // 1: not tested on a host like this one; kDoubtful: stale, or not tested in full anywhere
  std::size_t unasked = 0;  // components that were not asked for
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
  // Each takes a record, or the part of one that it is about (image_profiles.h).
  CodeFit code(const ImageRecord& host) const;
  ImageStanding standing(const ImageRecord& choice, const CodeFit& code, const Speed& speed, int doubt) const;
  // ImageStanding::doubt of one that is not stale, by the kinds of machines that it was tested on
  // (test_kinds()).
  int doubt(const ImageRecord& choice, const std::optional<TestsRecord>& kinds) const;
  // By the measurement of an image that compares; nullptr: none.
  GainRank gain(const Measurement* measured) const;
  // Whether this code counts as PTX in the order: an optimised build is asked for, and a GPU compiles it.
  bool by_ptx(const CodeFit& code) const;
  // Names of components that the question does not ask for: an MPI, Horovod, a workload. The parts of every
  // image (base, toolchain, framework), graph compilers, which have a separate clause, and optimised builds
  // where these are asked for, are not among them.
  std::vector<std::string> unasked(const ImageRecord& choice) const;

 private:
  static CpuReach reach(const ImageRecord& image, const Microarchitecture& target);
  static GpuReach gpu_reach(const ImageRecord& image);
  CudaFit cuda(const ImageRecord& image) const;
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
  std::vector<std::string> unasked;  // Ranker::unasked()
};

// Best first. Sets Candidate::measured and Candidate::predicted.
std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus, const Predictions& predictions = {});

// Of two that have different names, codes or manifests.
Preference first_difference(const Ranked& better, const Ranked& other);

}  // namespace kiln
