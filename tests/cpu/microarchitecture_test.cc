#include "factory/cpu/microarchitecture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kiln {
namespace {

const Microarchitectures& archspec_table() {
  static const Microarchitectures cpus = [] {
    std::ifstream in(KILN_ARCHSPEC_JSON, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return Microarchitectures::parse(text.str(), KILN_ARCHSPEC_JSON);
  }();
  return cpus;
}

std::string best(std::string_view name, std::string_view compiler, std::string_view version) {
  auto best = archspec_table().best_flags(name, compiler, version);
  return best ? fmt::format("{} | {} | {}", best->target, best->flags, best->note) : "nothing";
}

// A file with these microarchitectures, aliases and Arm vendors.
Microarchitectures parse_table(const std::string& microarchitectures, const std::string& aliases = "{}") {
  return Microarchitectures::parse(fmt::format(R"({{"microarchitectures": {},
"feature_aliases": {},
"conversions": {{"arm_vendors": {{"0x41": "ARM"}}}}}})",
                                               microarchitectures, aliases),
                                   "table.json");
}

// The error of a file with these microarchitectures, as it is printed.
// Of reading the table, and then of asking it for the flags of 'a' with GCC: a compiler's entries are read
// when the first flags are asked for.
std::string table_error(const std::string& microarchitectures, const std::string& aliases = "{}") {
  try {
    const Microarchitectures table = parse_table(microarchitectures, aliases);
    if (table.find("a") != nullptr) table.flags("a", "gcc", "1");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  return "no error";
}

std::string compiler_error(const std::string& entry) {
  return table_error(R"({"a": {"from": [], "vendor": "generic", "features": [], "compilers": {"gcc": [)" +
                     entry + "]}}}");
}

TEST(BestFlags, AnEntryOfArchspecNeedsNoNote) {
  EXPECT_EQ(best("zen4", "gcc", "13.2.0"), "zen4 | -march=znver4 -mtune=znver4 | ");
  EXPECT_EQ(best("x86_64_v3", "gcc", "12.2.0"), "x86_64_v3 | -march=x86-64-v3 -mtune=generic | ");
}

// archspec's "10.3:12.2" excludes 12.2.0 and its next entry begins with 12.3, though GCC has had only patches
// between.
TEST(BestFlags, AnUpperBoundIncludesItsPatchReleases) {
  EXPECT_EQ(archspec_table().flags("zen4", "gcc", "12.2.0").kind, FlagsAnswer::Kind::unsupported);
  EXPECT_EQ(best("zen4", "gcc", "12.2.0"),
            "zen4 | " + archspec_table().flags("zen4", "gcc", "12.2").flags +
                " | gcc 12.2.0 counts as a patch release in archspec's 10.3:12.2 for zen4");
  EXPECT_EQ(best("a64fx", "gcc", "10.2.0"),
            "a64fx | -march=armv8.2-a+crc+sha2+fp16+sve -msve-vector-bits=512 | "
            "gcc 10.2.0 counts as a patch release in archspec's 8:10.2 for a64fx");
  EXPECT_EQ(best("a64fx", "clang", "10.0.1"),
            "a64fx | -march=armv8.2-a+crc+sha2+fp16+sve | "
            "clang 10.0.1 counts as a patch release in archspec's 5:10 for a64fx");
}

TEST(BestFlags, AnOlderCompilerGetsTheNearestAncestorItKnows) {
  EXPECT_EQ(best("zen3", "gcc", "9.4.0"),
            "zen2 | -march=znver2 -mtune=znver2 | "
            "gcc 9.4.0 has no entry for zen3 (archspec's 10.3:); flags of zen2 are used");
  EXPECT_EQ(archspec_table().best_flags("zen4", "gcc", "9.4.0")->target, "x86_64_v4") << "a parent like zen3";
  EXPECT_EQ(best("zen5", "gcc", "12.2.0"),
            "zen4 | " + archspec_table().flags("zen4", "gcc", "12.2").flags +
                " | gcc 12.2.0 has no entry for zen5 (archspec's 14.1:); flags of zen4 are used; "
                "gcc 12.2.0 counts as a patch release in archspec's 10.3:12.2 for zen4");
}

TEST(BestFlags, ACompilerWithoutTheMicroarchitectureGetsAnAncestorAndArchspecsWarning) {
  EXPECT_EQ(best("zen4", "intel", "2021.2.0"),
            "zen3 | -march=core-avx2 -mtune=core-avx2 | intel has no entry for zen4; flags of zen3 are used; "
            "Intel's compilers may or may not optimize to the same degree for non-Intel microprocessors for "
            "optimizations that are not unique to Intel microprocessors");
}

TEST(BestFlags, NameTheEntryThatAnswered) {
  EXPECT_EQ(archspec_table().best_flags("zen4", "gcc", "12.2.0")->versions, "10.3:12.2");
  EXPECT_EQ(archspec_table().best_flags("zen4", "gcc", "13.2.0")->versions, "12.3:");
  EXPECT_EQ(archspec_table().best_flags("zen5", "gcc", "13.2.0")->versions, "12.3:");
}

TEST(BestFlags, PassOverAnEntryThatAsksForTheBuildMachine) {
  Microarchitectures cpus = parse_table(R"({
    "old": {"from": [], "vendor": "generic", "features": [],
            "compilers": {"gcc": [{"versions": "1:", "flags": "-march=old"}]}},
    "new": {"from": ["old"], "vendor": "generic", "features": [],
            "compilers": {"gcc": [{"versions": "1:", "flags": "-march=native"}]}}})");
  EXPECT_EQ(cpus.flags("new", "gcc", "12").flags, "-march=native");  // archspec's own answer
  EXPECT_EQ(cpus.best_flags("new", "gcc", "12")->flags, "-march=old");
  EXPECT_EQ(cpus.best_flags("new", "gcc", "12")->target, "old");
}

TEST(BestFlags, NothingWhereArchspecHasNothing) {
  EXPECT_EQ(best("zen4", "rocmcc", "5.0"), "nothing");
  EXPECT_EQ(best("core2", "nvhpc", "24.1"), "nothing");  // archspec's lists are empty up to x86_64
  EXPECT_EQ(best("sparc64", "gcc", "12.2.0"), "nothing");
  EXPECT_EQ(best("zen4", "rocmcc", "trunk"), "nothing");
}

TEST(BestFlags, RefusesAVersionThatCannotBeCompared) {
  try {
    best("zen4", "gcc", "12.2.0-14");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "'12.2.0-14' is not a version of gcc that archspec can compare");
    EXPECT_EQ(error.hint(), "write it as dot separated digits, such as 12.2.0");
  }
}

TEST(Flags, RefusesAnUnknownMicroarchitecture) {
  for (bool best_flags : {false, true}) {
    try {
      best_flags ? void(best("zen33", "gcc", "12")) : void(archspec_table().flags("zen33", "gcc", "12"));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.message(), "archspec knows no microarchitecture 'zen33'");
      EXPECT_EQ(error.hint(), "did you mean 'zen3'?");
    }
  }
}

TEST(Microarchitectures, UnknownNamesAreNothing) {
  const Microarchitectures& cpus = archspec_table();
  EXPECT_EQ(cpus.find("zen33"), nullptr);
  EXPECT_EQ(cpus.family("zen33"), "");
  EXPECT_FALSE(cpus.runs("zen33", "zen33"));
  EXPECT_FALSE(cpus.runs("zen3", "zen33"));
  EXPECT_FALSE(cpus.has_feature("zen33", "avx2"));
}

TEST(Microarchitectures, AliasesMayNameAliasesAndNeverLoop) {
  auto cpus = parse_table(
      R"({"a": {"from": [], "vendor": "generic", "features": ["ssse3"]}})",
      R"({"one": {"any_of": ["two"]}, "two": {"any_of": ["none", "ssse3"]}, "always": {"reason": ""},
                        "loop": {"any_of": ["pool"]}, "pool": {"any_of": ["loop"]},
                        "both": {"any_of": ["ssse3"], "families": ["b"]}})");
  EXPECT_TRUE(cpus.has_feature("a", "sse3"));
  EXPECT_TRUE(cpus.has_feature("a", "one"));
  EXPECT_TRUE(cpus.has_feature("a", "always"));
  EXPECT_FALSE(cpus.has_feature("a", "loop"));
  EXPECT_FALSE(cpus.has_feature("a", "both"));
}

TEST(Microarchitectures, FieldsOfAnEntryAreFilledIntoItsFlags) {
  auto cpus = parse_table(R"({"a": {"from": [], "vendor": "v", "features": [], "compilers": {"gcc": [
      {"versions": "2.0-beta:2.5", "family": "f", "flags": "-x={name} -y={family}{{}}"},
      {"versions": ":", "name": "b", "flags": "-x={name}"}]}}})");
  EXPECT_EQ(cpus.flags("a", "gcc", "2.5").flags, "-x=a -y=f{}");
  EXPECT_EQ(cpus.flags("a", "gcc", "1.9").flags, "-x=b");
}

TEST(MicroarchitectureErrors, SayWhereAndWhat) {
  const std::string own = R"("vendor": "generic", "features": [])";
  EXPECT_EQ(
      table_error("{\"a\": {\"from\": [\n\"b\"], " + own + "}}"),
      "table.json:2:1: error: 'b' is not a microarchitecture of this file (at /microarchitectures/a/from/0)");
  EXPECT_EQ(
      table_error("{\"a\": {\"from\": [\"b\"], " + own + "},\n\"b\": {\"from\": [\"a\"], " + own + "}}"),
      "table.json:1:30: error: 'a' is its own ancestor (at /microarchitectures/a)");
  EXPECT_EQ(table_error("{\"a\": {\"from\": [], " + own + "}, \"b\": {\"from\": [], " + own +
                        "},\n\"c\": {\"from\": [\"a\", \"b\"], " + own + "}}"),
            "table.json:2:6: error: 'c' belongs to more than one family: a, b (at /microarchitectures/c)");
  EXPECT_EQ(table_error("{}", R"({"neon": {"none_of": ["sve"]}})"),
            "table.json:2:41: error: expected any_of, families or reason, found the rule 'none_of' "
            "(at /feature_aliases/neon/none_of)");
}

TEST(MicroarchitectureErrors, OfCompilerEntries) {
  const std::string place = "(at /microarchitectures/a/compilers/gcc/0/";
  for (const char* versions : {"4.9", "1:2:3", "1..2:", ":.5"}) {
    EXPECT_EQ(
        compiler_error(fmt::format("\n{{\"versions\": \"{}\", \"flags\": \"\"}}", versions)),
        fmt::format(
            "table.json:2:14: error: expected a range of versions such as 4.9:8.0, found '{}' {}versions)",
            versions, place));
  }
  EXPECT_EQ(
      compiler_error("\n{\"versions\": \":\", \"flags\": \"-x={cpu}\"}"),
      "table.json:2:28: error: '-x={cpu}' names a field that the entry does not have " + place + "flags)");
  for (const char* flags : {"-x={name", "-x=}"}) {
    EXPECT_EQ(
        compiler_error(fmt::format("\n{{\"versions\": \":\", \"flags\": \"{}\"}}", flags)),
        fmt::format("table.json:2:28: error: a brace without its partner in '{}' {}flags)", flags, place));
  }
}

TEST(FirstProcessor, EndsAtTheBlankLine) {
  auto fields =
      first_processor("\nprocessor\t: 0\r\nflags : a  b\nCOMMENT: x: y\n\nprocessor : 1\nmore : 2\n");
  EXPECT_EQ(fields,
            (std::map<std::string, std::string>{{"processor", "0"}, {"flags", "a  b"}, {"COMMENT", "x: y"}}));
  EXPECT_TRUE(first_processor("").empty());
}

TEST(Detect, WithoutKnowledgeIsTheFamily) {
  const Microarchitectures& cpus = archspec_table();
  EXPECT_EQ(cpus.detect("", "x86_64"), "x86_64");
  EXPECT_EQ(cpus.detect("", "aarch64"), "aarch64");
  EXPECT_EQ(cpus.detect("cpu : POWER, altivec\n", "ppc64le"), "ppc64le");
  EXPECT_EQ(cpus.detect("cpu : POWER99999999999\n", "ppc64le"), "ppc64le");
  EXPECT_EQ(cpus.detect("cpu : POWER10 (architected)\n", "ppc64le"), "power10le");
  EXPECT_EQ(cpus.detect("uarch : something,new\n", "riscv64"), "riscv64");
  EXPECT_EQ(cpus.detect("vendor_id : GenuineIntel\n", "i686"), "i686");
}

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
