#include "factory/evidence/feature.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "factory/cpu/microarchitecture.h"

namespace kiln::evidence {
namespace {

constexpr std::string_view kX86 = "x86_64";
constexpr std::string_view kArm = "aarch64";

// Not judged: archspec's x86_64 has neither SSE3 nor CMPXCHG16B, every processor since 2006 has both, and
// distributions count on it (Debian's NumPy is compiled with SSE3). No compiler writes RDRAND or RDSEED by
// itself, so they say nothing about flags. archspec lists RTM for no target at all.
constexpr Feature kFeatures[] = {
    {"sse", kX86, Tier::baseline, false},
    {"sse2", kX86, Tier::baseline, false},
    {"sse3", kX86, Tier::v2, false},
    {"ssse3", kX86, Tier::v2, true},
    {"sse4_1", kX86, Tier::v2, true},
    {"sse4_2", kX86, Tier::v2, true},
    {"popcnt", kX86, Tier::v2, true},
    {"cx16", kX86, Tier::v2, false},
    {"sse4a", kX86, Tier::v2, true},
    {"aes", kX86, Tier::v3, true},
    {"pclmulqdq", kX86, Tier::v3, true},
    {"avx", kX86, Tier::v3, true},
    {"f16c", kX86, Tier::v3, true},
    {"fma", kX86, Tier::v3, true},
    {"avx2", kX86, Tier::v3, true},
    {"bmi1", kX86, Tier::v3, true},
    {"bmi2", kX86, Tier::v3, true},
    {"abm", kX86, Tier::v3, true},
    {"movbe", kX86, Tier::v3, true},
    {"rdrand", kX86, Tier::v3, false},
    {"rdseed", kX86, Tier::v3, false},
    {"adx", kX86, Tier::v3, true},
    {"sha_ni", kX86, Tier::v3, true},
    {"fma4", kX86, Tier::v3, true},
    {"xop", kX86, Tier::v3, true},
    {"tbm", kX86, Tier::v3, true},
    {"gfni", kX86, Tier::v3, true},
    {"vaes", kX86, Tier::v3, true},
    {"vpclmulqdq", kX86, Tier::v3, true},
    {"avx_vnni", kX86, Tier::v3, true},
    {"rtm", kX86, Tier::v3, false},
    {"avx512f", kX86, Tier::v4, true},
    {"avx512cd", kX86, Tier::v4, true},
    {"avx512bw", kX86, Tier::v4, true},
    {"avx512dq", kX86, Tier::v4, true},
    {"avx512vl", kX86, Tier::v4, true},
    {"avx512ifma", kX86, Tier::v4, true},
    {"avx512vbmi", kX86, Tier::v4, true},
    {"avx512_vbmi2", kX86, Tier::v4, true},
    {"avx512_vnni", kX86, Tier::v4, true},
    {"avx512_bitalg", kX86, Tier::v4, true},
    {"avx512_vpopcntdq", kX86, Tier::v4, true},
    {"avx512_bf16", kX86, Tier::v4, true},
    {"avx512_fp16", kX86, Tier::v4, true},
    {"avx512_vp2intersect", kX86, Tier::v4, true},
    {"avx512er", kX86, Tier::v4, true},
    {"avx512pf", kX86, Tier::v4, true},
    {"amx_tile", kX86, Tier::v4, true},
    {"amx_int8", kX86, Tier::v4, true},
    {"amx_bf16", kX86, Tier::v4, true},
    {"asimd", kArm, Tier::baseline, false},
    {"crc32", kArm, Tier::v2, true},
    {"atomics", kArm, Tier::v2, true},
    {"aes", kArm, Tier::v2, true},
    {"sha2", kArm, Tier::v2, true},
    {"asimddp", kArm, Tier::v3, true},
    {"asimdhp", kArm, Tier::v3, true},
    {"bf16", kArm, Tier::v3, true},
    {"i8mm", kArm, Tier::v3, true},
    {"sve", kArm, Tier::v4, true},
    {"sve2", kArm, Tier::v4, true},
    {"sme", kArm, Tier::v4, true},
};
static_assert(std::size(kFeatures) <= sizeof(FeatureSet) * 8);

}  // namespace

std::span<const Feature> feature_table() { return kFeatures; }

FeatureSet feature(std::string_view family, std::string_view name) {
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (table[id].name == name && table[id].family == family) return FeatureSet{1} << id;
  throw std::logic_error("no feature " + std::string(name));
}

FeatureSet features_of_tier(Tier tier) {
  FeatureSet set = 0;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (table[id].tier >= tier) set |= FeatureSet{1} << id;
  return set;
}

FeatureSet judged_features() {
  FeatureSet set = 0;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (table[id].judged) set |= FeatureSet{1} << id;
  return set;
}

std::vector<std::string> names_of(FeatureSet set) {
  std::vector<std::string> names;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if ((set >> id & 1) != 0) names.emplace_back(table[id].name);
  return names;
}

FeatureSet set_of(std::string_view family, const std::vector<std::string>& names) {
  FeatureSet set = 0;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (table[id].family == family && std::find(names.begin(), names.end(), table[id].name) != names.end())
      set |= FeatureSet{1} << id;
  return set;
}

FeatureSet features_of_target(const Microarchitectures& cpus, const std::string& cpu) {
  const Microarchitecture* found = cpus.find(cpu);
  if (found == nullptr)
    throw Error(ExitCode::usage, "archspec knows no microarchitecture '" + cpu + "'",
                hint_for_unknown_cpu(cpu, cpus));
  std::vector<std::string> names(found->features.begin(), found->features.end());
  std::string family = cpus.family(cpu);
  // SSE3 is listed for the earliest processors only and came before SSSE3.
  if (found->features.contains("ssse3")) names.emplace_back("sse3");
  FeatureSet set = set_of(family, names);
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (table[id].family == family && table[id].tier == Tier::baseline) set |= FeatureSet{1} << id;
  return set;
}

}  // namespace kiln::evidence
