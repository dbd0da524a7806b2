#include "factory/cpu/unknown_cpu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kiln {
namespace {

Microarchitectures cpus_named(const std::vector<std::string>& names) {
  std::string rows;
  for (const std::string& name : names)
    rows += (rows.empty() ? "\"" : ", \"") + name +
            R"(": {"from": [], "vendor": "generic", "features": [], "compilers": {}})";
  return Microarchitectures::parse(
      R"({"microarchitectures": {)" + rows +
          R"(}, "feature_aliases": {}, "conversions": {"description": "", "arm_vendors": {}}})",
      "table.json");
}

TEST(UnknownCpu, TheNearestThatArchspecHas) {
  const Microarchitectures cpus = cpus_named({"sapphirerapids", "icelake", "alderlake", "zen4", "zen5",
                                              "neoverse_v2", "neoverse_n1", "skylake_avx512"});
  auto hint = [&](const char* name) { return hint_for_unknown_cpu(name, cpus); };
  EXPECT_EQ(hint("graniterapids"), "archspec's nearest is 'sapphirerapids'");
  EXPECT_EQ(hint("EmeraldRapids"), "archspec's nearest is 'sapphirerapids'");
  EXPECT_EQ(hint("graniterapids-d"), "archspec's nearest is 'sapphirerapids'") << "as a compiler writes it";
  EXPECT_EQ(hint("znver5"), "archspec's nearest is 'zen5'");
  EXPECT_EQ(hint("genoa"), "archspec's nearest is 'zen4'");
  EXPECT_EQ(hint("grace"), "archspec's nearest is 'neoverse_v2'");
  EXPECT_EQ(hint("graviton2"), "archspec's nearest is 'neoverse_n1'");
  EXPECT_EQ(hint("tigerlake"), "archspec's nearest is 'icelake'");
  EXPECT_EQ(hint("lunarlake"), "archspec's nearest is 'alderlake'") << "this archspec has no arrowlake_s";
  EXPECT_EQ(hint("skylake-avx512"), "did you mean 'skylake_avx512'?");
  EXPECT_EQ(hint("Zen4"), "did you mean 'zen4'?");
  EXPECT_EQ(hint("sapphirerapid"), "did you mean 'sapphirerapids'?");
  EXPECT_EQ(hint("knl"), "") << "neither it nor what is near";
  EXPECT_EQ(hint("quantum"), "");
  EXPECT_EQ(hint_for_unknown_cpu("frontir", cpus, {"frontier"}), "did you mean 'frontier'?");
}

}  // namespace
}  // namespace kiln
