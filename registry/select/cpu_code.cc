#include "registry/select/cpu_code.h"

#include <algorithm>
#include <tuple>

namespace kiln {
namespace {

constexpr std::string_view kGeneric = "generic";

std::size_t asked_features(const Microarchitecture& target) {
  return static_cast<std::size_t>(
      std::count_if(target.features.begin(), target.features.end(), is_asked_for));
}

// Of the psABI's levels (x86-64-ABI, "Low-level system information") the highest that the target has.
int level_of(const Microarchitecture& target, const Microarchitectures& cpus) {
  int level = 1;
  for (int candidate = 2; candidate <= 4; ++candidate)
    if (cpus.runs(target.name, "x86_64_v" + std::to_string(candidate))) level = candidate;
  return level;
}

}  // namespace

bool is_asked_for(std::string_view feature) {
  return feature != "rdrand" && feature != "rdseed" && feature != "pku" && feature != "flush_l1d";
}

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
    return std::tuple(cpu.ancestors.size(), cpu.features.size());
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
  const bool x86 = target.family == "x86_64";
  return {target.name == line_->name, x86 ? level_of(target, *cpus_) : 1,
          cpus_->runs(line_->name, target.name), target.ancestors.size(), asked_features(target)};
}

CpuReach reach_of(const Microarchitecture& target, const std::set<std::string>& found_beyond) {
  std::size_t features = asked_features(target);
  for (const std::string& feature : found_beyond) features += target.features.contains(feature) ? 0 : 1;
  return {true, features, target.ancestors.size()};
}

}  // namespace kiln
