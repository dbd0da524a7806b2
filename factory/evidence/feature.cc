#include "factory/evidence/feature.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "factory/base/text.h"

namespace kiln::evidence {
namespace {

constexpr std::string_view kX86 = "x86_64";
constexpr std::string_view kArm = "aarch64";

// Features of one family and tier, by their names. The order of the rows is how far a feature lies beyond the
// others.
struct FeatureRow {
  std::string_view family;
  Tier tier;
  std::string_view names;
};
constexpr FeatureRow kRows[] = {
    {kX86, Tier::baseline, "sse sse2"},
    {kX86, Tier::v2, "sse3 ssse3 sse4_1 sse4_2 popcnt cx16 sse4a"},
    {kX86, Tier::v3,
     "aes pclmulqdq avx f16c fma avx2 bmi1 bmi2 abm movbe rdrand rdseed adx sha_ni fma4 xop tbm gfni vaes "
     "vpclmulqdq avx_vnni rtm"},
    {kX86, Tier::v4,
     "avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512_vbmi2 avx512_vnni "
     "avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16 avx512_vp2intersect avx512er avx512pf amx_tile "
     "amx_int8 amx_bf16"},
    {kArm, Tier::baseline, "asimd"},
    {kArm, Tier::v2, "crc32 atomics aes sha2"},
    {kArm, Tier::v3, "asimddp asimdhp bf16 i8mm"},
    {kArm, Tier::v4, "sve sve2 sme"},
};
static_assert([] {
  std::size_t names = 0;
  for (const FeatureRow& row : kRows)
    names += 1 + static_cast<std::size_t>(std::ranges::count(row.names, ' '));
  return names <= sizeof(FeatureSet) * 8;
}());

// archspec's x86_64 has neither SSE3 nor CMPXCHG16B, every processor since 2006 has both, and distributions
// count on it (Debian's NumPy is compiled with SSE3). No compiler writes RDRAND or RDSEED by itself, so they
// say nothing about flags. archspec lists RTM for no target at all.
constexpr std::string_view kNotJudged[] = {"sse3", "cx16", "rdrand", "rdseed", "rtm"};

const std::vector<Feature>& features() {
  static const std::vector<Feature> kFeatures = [] {
    std::vector<Feature> all;
    for (const FeatureRow& row : kRows)
      for (std::string_view name : split(row.names, ' '))
        all.push_back(
            {name, row.family, row.tier,
             row.tier != Tier::baseline && std::ranges::find(kNotJudged, name) == std::end(kNotJudged)});
    return all;
  }();
  return kFeatures;
}

// Those for which `is_wanted` holds.
template <typename IsWanted>
FeatureSet set_that(IsWanted is_wanted) {
  FeatureSet set = 0;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if (is_wanted(table[id])) set |= FeatureSet{1} << id;
  return set;
}

}  // namespace

std::span<const Feature> feature_table() { return features(); }

FeatureSet feature(std::string_view family, std::string_view name) {
  const auto found = std::ranges::find_if(
      features(), [&](const Feature& one) { return one.name == name && one.family == family; });
  if (found == features().end()) throw std::logic_error("no feature " + std::string(name));
  return FeatureSet{1} << (found - features().begin());
}

FeatureSet features_of_tier(Tier tier) {
  return set_that([&](const Feature& feature) { return feature.tier >= tier; });
}

FeatureSet judged_features() {
  return set_that([](const Feature& feature) { return feature.judged; });
}

std::vector<std::string> names_of(FeatureSet set) {
  std::vector<std::string> names;
  const auto table = feature_table();
  for (FeatureId id = 0; id < table.size(); ++id)
    if ((set >> id & 1) != 0) names.emplace_back(table[id].name);
  return names;
}

FeatureSet set_of(std::string_view family, const std::vector<std::string>& names) {
  return set_that(
      [&](const Feature& feature) { return feature.family == family && contains(names, feature.name); });
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
  return set_of(family, names) | set_that([&](const Feature& feature) {
           return feature.family == family && feature.tier == Tier::baseline;
         });
}

}  // namespace kiln::evidence
