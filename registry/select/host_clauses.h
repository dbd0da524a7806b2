// Whether an image can run on a host: docs/selection.md, "Can the image run". Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/record/gpu_code.h"
#include "factory/record/image_record.h"
#include "registry/select/cpu_code.h"

namespace kiln {

// A host as the clauses ask for it: read once, for many images. `description` and `cpus` outlive it.
class KnownHost {
 public:
  KnownHost(const HostDescription& description, const Microarchitectures& cpus);

  const HostDescription& description() const { return *description_; }
  const HostCpu& cpu() const { return cpu_; }
  // The GPUs of a vendor, each once: "sm_90"; "" for one that is not named.
  std::vector<std::string> gpus(const std::string& vendor) const;
  const Version& driver() const { return driver_; }  // these are empty where they are not known
  const Version& kernel() const { return kernel_; }
  const Version& glibc() const { return glibc_; }
  const MpiLibrary& mpi() const { return mpi_; }

 private:
  const HostDescription* description_;
  HostCpu cpu_;
  Version driver_, kernel_, glibc_;
  MpiLibrary mpi_;
};

// nullopt: nothing is known of it, or of its processor.
std::optional<KnownHost> known_host(const HostDescription& description, bool known,
                                    const Microarchitectures& cpus);

// An image as the clauses ask for it.
struct ImageOnHost {
  const ImageRecord& image;
  const Microarchitecture* target;  // nullptr: it has none, and fits every processor
  const KnownHost& host;
  std::string vendor;  // of the accelerators that count: "" = each that the image is for
};

// The first clause that fails as a sentence ("needs avx2; host x86_64_v2 lacks it"); "" when all hold. `met`
// is raised by each that holds.
std::string host_refusal(const ImageOnHost& on_host, int& met);
inline constexpr int kHostClauses = 9;
// How many clauses fail; counts no further than `most`.
int host_refusals(const ImageOnHost& on_host, int most);
// NVIDIA's driver that an image needs at least: as it says, else by its CUDA; empty where neither is known.
Version least_driver(const HostNeeds& needs);
// The reason why the image runs on no host: a library that it lacks, a glibc newer than its own.
std::string nowhere_refusal(const ImageRecord& image);

// How well the image's code of one vendor suits a GPU: the worse of what it declares and what was found in
// it.
GpuFit gpu_fit(const ImageRecord& image, const std::string& vendor, const std::string& gpu);
// On the GPU of this host that it suits least, of the vendor where that is best; nullopt when the image has
// no accelerators.
std::optional<GpuFit> gpu_fit(const ImageOnHost& on_host);

// "sm_80, sm_90"; `empty` for none.
std::string list_or(const std::vector<std::string>& words, const char* empty);

// Features that were found to run beyond the image's target, without being chosen at run time.
std::vector<std::string> exceeding_features(const ImageRecord& image, const Microarchitecture* target);

}  // namespace kiln
