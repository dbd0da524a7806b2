#include "registry/select/cpu_code.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kGeneric = "generic";

// Features that a target's code never asks for, although archspec's lists have them: no compiler emits them
// unless a program or an option asks. Kernels and virtual machines hide many of them, and archspec's lists of
// some processors omit them. RDRAND, RDSEED and RNDR are for programs that ask; protection keys, PSTATE.DIT,
// PSTATE.SSBS, FLAGM2, cache maintenance, timers, WFET and LD64B are for kernels and libraries; DGH and BTI
// are hints, which other processors ignore; SB is for options against speculation; FLUSH_L1D, EVTSTRM and
// CPUID are no instructions of user code.
constexpr std::array<std::string_view, 18> kNotAskedFor = {
    "rdrand", "rdseed", "pku",   "flush_l1d", "rng",   "dgh", "dit",  "flagm2", "bti",
    "ssbs",   "sb",     "dcpop", "dcpodp",    "cpuid", "ecv", "wfxt", "ls64",   "evtstrm"};

// What each version of the architecture adds for compilers (Arm Architecture Reference Manual, A2.2), because
// archspec lists no features of these.
struct ArmVersion {
  std::string_view name;
  std::array<std::string_view, 5> features;
};
constexpr std::array<ArmVersion, 7> kArmVersions = {{{"aarch64", {"fp", "asimd"}},
                                                     {"armv8.1a", {"crc32", "atomics", "asimdrdm"}},
                                                     {"armv8.3a", {"jscvt", "fcma", "lrcpc", "paca", "pacg"}},
                                                     {"armv8.4a", {"asimddp", "flagm", "uscat", "ilrcpc"}},
                                                     {"armv8.5a", {"frint"}},
                                                     {"armv8.6a", {"bf16", "i8mm"}},
                                                     {"armv9.0a", {"fphp", "asimdhp", "sve", "sve2"}}}};

bool is_asked_for(std::string_view feature) { return !contains(kNotAskedFor, feature); }

std::size_t asked_features(const Microarchitecture& target) {
  return static_cast<std::size_t>(std::ranges::count_if(target.features, is_asked_for));
}

// All that compilers may use for an aarch64 target.
std::set<std::string_view> arm_features(const Microarchitecture& target, const Microarchitectures& cpus) {
  std::set<std::string_view> features;
  for (const std::string& feature : target.features)
    if (is_asked_for(feature)) features.insert(feature);
  for (const ArmVersion& version : kArmVersions)
    if (cpus.runs(target.name, version.name))
      std::copy_if(version.features.begin(), version.features.end(), std::inserter(features, features.end()),
                   [](std::string_view feature) { return !feature.empty(); });
  return features;
}

// Of the psABI's levels (x86-64-ABI, "Low-level system information") the highest that the target has.
int x86_level(const Microarchitecture& target, const Microarchitectures& cpus) {
  int level = 1;
  for (int candidate = 2; candidate <= 4; ++candidate)
    if (cpus.runs(target.name, "x86_64_v" + std::to_string(candidate))) level = candidate;
  return level;
}

}  // namespace

HostCpu::HostCpu(const HostDescription& host, const Microarchitectures& cpus)
    : cpus_(&cpus),
      cpu_(cpus.find(host.cpu)),
      line_(cpu_),
      features_(host.features.begin(), host.features.end()),
      vendor_(host.vendor) {
  // Linux writes pni for sse3, and archspec counts it wherever ssse3 is.
  if (features_.contains("ssse3") || features_.contains("pni")) features_.insert("sse3");
  if (vendor_.empty() && cpu_->vendor != kGeneric) vendor_ = cpu_->vendor;
  if (cpu_->vendor == kGeneric && !features_.empty() && !vendor_.empty()) line_ = most_specific();
}

// archspec's detection falls back to a level where a virtual machine hides a single feature.
const Microarchitecture* HostCpu::most_specific() const {
  const Microarchitecture* best = cpu_;
  auto rank = [](const Microarchitecture& cpu) {
    return std::tuple(cpu.ancestors.size(), asked_features(cpu));
  };
  for (const std::string& name : cpus_->names()) {
    const Microarchitecture& candidate = *cpus_->find(name);
    if (candidate.vendor == vendor_ && cpus_->runs(name, cpu_->name) && runs(candidate) &&
        rank(candidate) > rank(*best))
      best = &candidate;
  }
  return best;
}

bool HostCpu::has(const std::string& feature) const {
  return features_.empty() ? cpus_->has_feature(cpu_->name, feature) : features_.contains(feature);
}

bool HostCpu::runs(const Microarchitecture& target) const {
  if (target.family != cpu_->family) return false;
  const bool by_features =
      (target.family == "x86_64" || target.family == "aarch64") && !target.features.empty();
  return by_features ? missing(target).empty() : cpus_->runs(cpu_->name, target.name);
}

std::vector<std::string> HostCpu::missing(const Microarchitecture& target) const {
  std::vector<std::string> missing;
  for (const std::string& feature : target.features)
    if (is_asked_for(feature) && !has(feature)) missing.push_back(feature);
  return missing;
}

CpuFit HostCpu::fit(const Microarchitecture& target) const {
  CpuFit fit{target.name == line_->name, 1, 0, cpus_->runs(line_->name, target.name), target.ancestors.size(),
             asked_features(target)};
  if (target.family == "x86_64") fit.level = x86_level(target, *cpus_);
  if (target.family != "aarch64") return fit;
  const std::set<std::string_view> features = arm_features(target, *cpus_);
  fit.level = features.contains("sve2") ? 3 : features.contains("sve") ? 2 : 1;
  fit.shared = features.size();
  return fit;
}

CpuReach reach_of(const Microarchitecture& target, const std::set<std::string>& found_beyond) {
  std::size_t features = asked_features(target);
  for (const std::string& feature : found_beyond) features += target.features.contains(feature) ? 0 : 1;
  return {true, features, target.ancestors.size()};
}

}  // namespace kiln
