// CPU features as archspec names them, and sets of them: what an instruction needs, what a target has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"

namespace kiln::evidence {

using FeatureSet = std::uint64_t;  // one bit for each entry of feature_table()
using FeatureId = unsigned;

// How far a feature lies above the baseline of its family. Run-time dispatch is decided for each tier: a
// function that was chosen for AVX may not call AVX-512 code without asking again.
enum class Tier : std::uint8_t { baseline, v2, v3, v4 };
inline constexpr Tier kTiers[] = {Tier::v2, Tier::v3, Tier::v4};

struct Feature {
  std::string_view name;    // archspec's, or ours where archspec has none
  std::string_view family;  // x86_64 or aarch64
  Tier tier;
  bool judged;  // false: seen and reported, never a violation; feature.cc says why
};

std::span<const Feature> feature_table();
// REQUIRES: `name` is in the table of `family` (two families share names: crc32, sha512).
FeatureSet feature(std::string_view family, std::string_view name);
FeatureSet features_of_tier(Tier tier);  // this tier and those above
FeatureSet judged_features();
std::vector<std::string> names_of(FeatureSet set);  // in the table's order
// Names that the table lacks are left out: no instruction that is distinguished here needs them.
FeatureSet set_of(std::string_view family, const std::vector<std::string>& names);

// Everything that code for `cpu` may use. Throws Error(usage) for a name that archspec does not know.
FeatureSet features_of_target(const Microarchitectures& cpus, const std::string& cpu);

}  // namespace kiln::evidence
