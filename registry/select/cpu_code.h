// Which code runs on which processor, and how well: archspec's features, and its order of microarchitectures
// where features do not tell. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"

namespace kiln {

// How good code is for a processor that runs it: more is better. Compared in this order.
struct CpuFit {
  bool own_name = false;  // made for exactly this microarchitecture
  // Of its target: the x86-64 level, 1 to 4; on aarch64 the vectors: 1 NEON, 2 SVE, 3 SVE2; else 1. 0 for an
  // image without a target.
  int level = 0;
  std::size_t shared = 0;  // aarch64: features that code for its target has in common with the processor
  bool own_line = false;   // its target is an ancestor
  std::size_t ancestors = 0;
  std::size_t features = 0;
  auto operator<=>(const CpuFit&) const = default;
};

// How few processors a target leaves out: less is better.
struct CpuReach {
  bool targeted = false;  // false: it has no target, and fits every processor
  std::size_t features = 0;
  std::size_t ancestors = 0;
  auto operator<=>(const CpuReach&) const = default;
};

// The processor of a host, as far as it is known. `cpus` outlives it.
class HostCpu {
 public:
  HostCpu(const HostDescription& host, const Microarchitectures& cpus);

  // Whether `target` (archspec's name) runs here. On x86_64 and aarch64 by features, if the target lists any;
  // else it must be this microarchitecture or one of its ancestors.
  bool runs(const Microarchitecture& target) const;
  bool has(const std::string& feature) const;
  std::vector<std::string> missing(const Microarchitecture& target) const;  // features, sorted
  CpuFit fit(const Microarchitecture& target) const;

  const Microarchitecture& microarchitecture() const { return *cpu_; }
  const std::string& vendor() const {
    return vendor_;
  }  // "" if it is of no vendor in particular, or not known

 private:
  const Microarchitecture* most_specific() const;

  const Microarchitectures* cpus_;
  const Microarchitecture* cpu_;    // as the host is called
  const Microarchitecture* line_;   // whose ancestors are the host's own line
  std::set<std::string> features_;  // empty: those of cpu_
  std::string vendor_;
};

CpuReach reach_of(const Microarchitecture& target, const std::set<std::string>& found_beyond);

}  // namespace kiln
