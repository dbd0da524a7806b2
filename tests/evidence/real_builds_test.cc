// Verdicts upon real builds, from the facts that were found in them: tests/engines/openblas_test.sh builds
// the OpenBLAS ones anew, the others are libraries of the demo's images (Debian's PyTorch and OpenBLAS, JAX's
// wheel).
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiled.h"
#include "factory/evidence/evidence.h"

namespace kiln::evidence {
namespace {

using Strings = std::vector<std::string>;

std::string file_text(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

FileFacts real_facts(const std::string& name) {
  const Json json = Json::parse(file_text(std::string(KILN_TEST_DATA) + "/evidence/" + name + ".json"));
  const Json dynamic = json.value("dynamic", Json::object());
  EXPECT_EQ(json.at("machine"), "x86_64");
  EXPECT_EQ(json.at("type"), "shared");
  FileFacts facts;
  facts.machine = Machine::x86_64;
  facts.type = ElfType::shared;
  facts.dynamic.soname = dynamic.value("soname", "");
  facts.dynamic.needed = dynamic.value("needed", Strings());
  facts.needs_glibc = json.value("needs_glibc", "");
  facts.provides_glibc = json.value("provides_glibc", "");
  facts.code_bytes = json.at("code_bytes");
  facts.functions = json.at("functions");
  facts.boundaries = json.at("boundaries");
  facts.undecodable_bytes = json.at("undecodable_bytes");
  for (const auto& [feature, found] : json.at("features").items()) {
    FeatureFacts& read = facts.features[feature];
    read.instructions = found.value("instructions", 0u);
    read.functions = found.at("functions");
    if (found.contains("unconditional")) {
      const Json& witness = found["unconditional"];
      read.unconditional = Witness{witness.value("symbol", ""), witness.value("address", std::uint64_t{0}),
                                   witness.value("instruction", "")};
    }
    read.dispatched = found.value("dispatched", "");
  }
  facts.queries = json.value("asks_by", Strings());
  return facts;
}

// Answers for each ELF file with the facts of another.
class OneAnswer final : public FactsCache {
 public:
  explicit OneAnswer(FileFacts facts) : facts_(std::move(facts)) {}
  std::optional<FileFacts> find(const Digest&) override { return facts_; }
  void keep(const Digest&, const FileFacts&) override { FAIL() << "nothing is examined here"; }

 private:
  FileFacts facts_;
};

class RealBuild {
 public:
  explicit RealBuild(const FileFacts& facts) : answer_(facts) {
    root_.write("opt/kiln/lib/lib.so", compiler_.shared("int f;", ""));
    ReadOptions options;
    options.cache = &answer_;
    files_ = read_folder(root_.path(), options);
  }
  explicit RealBuild(const std::string& name) : RealBuild(real_facts(name)) {}

  Evidence judged(const std::string& target) {
    Declaration declared;
    declared.target = target;
    declared.optimised = true;
    return judge(files_, declared, cpus());
  }
  Verdict verdict(const std::string& target) { return judged(target).verdict; }

 private:
  static const Microarchitectures& cpus() {
    static const Microarchitectures kTable =
        Microarchitectures::parse(file_text(KILN_ARCHSPEC_JSON), KILN_ARCHSPEC_JSON);
    return kTable;
  }
  testing::Compiler compiler_;
  kiln::testing::TemporaryFolder root_;
  OneAnswer answer_;
  ImageFiles files_;
};

bool holds(const Strings& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(RealBuilds, OpenBlasForHaswellIsForHaswellAndItsHeirs) {
  RealBuild library("openblas_haswell");
  EXPECT_EQ(library.verdict("haswell"), Verdict::conforms);
  EXPECT_EQ(library.verdict("skylake_avx512"), Verdict::conforms);
  EXPECT_EQ(library.verdict("x86_64_v3"), Verdict::conforms);
  Evidence found = library.judged("sandybridge");
  EXPECT_EQ(found.verdict, Verdict::exceeds);
  EXPECT_TRUE(holds(found.unconditional(), "avx2"));
  EXPECT_TRUE(holds(found.unconditional(), "fma"));
  EXPECT_FALSE(holds(found.unconditional(), "avx512f"));
}

TEST(RealBuilds, OpenBlasForSkylakeNeedsAvx512) {
  RealBuild library("openblas_skylake_avx512");
  EXPECT_EQ(library.verdict("skylake_avx512"), Verdict::conforms);
  EXPECT_EQ(library.verdict("cascadelake"), Verdict::conforms);
  Evidence found = library.judged("haswell");
  EXPECT_EQ(found.verdict, Verdict::exceeds);
  EXPECT_TRUE(holds(found.unconditional(), "avx512f"));
  EXPECT_TRUE(std::any_of(found.excesses.begin(), found.excesses.end(),
                          [](const Excess& excess) { return excess.feature.starts_with("avx512"); }));
}

// Multi-versioned code is reported as such, and is no violation on the oldest processor.
TEST(RealBuilds, MultiVersionedLibrariesRunAnywhere) {
  for (const char* name : {"libtorch_cpu_2.6.0_debian", "openblas_0.3.29_debian"}) {
    RealBuild library{std::string(name)};
    Evidence found = library.judged("x86_64");
    EXPECT_EQ(found.verdict, Verdict::conforms) << name << "\n" << to_table(found, false);
    EXPECT_TRUE(holds(found.dispatched(), "avx512f")) << name;
    EXPECT_TRUE(holds(found.dispatched(), "avx2")) << name;
    EXPECT_FALSE(holds(found.unconditional(), "avx")) << name;
  }
}

// JAX's wheel holds AVX code that runs without being chosen, and chooses what is beyond at run time.
TEST(RealBuilds, JaxNeedsAvxAndChoosesTheRest) {
  RealBuild library("libjax_common_0.10.2_pip");
  EXPECT_EQ(library.verdict("x86_64_v3"), Verdict::conforms);
  EXPECT_EQ(library.verdict("sandybridge"), Verdict::conforms);
  Evidence found = library.judged("nehalem");
  EXPECT_EQ(found.verdict, Verdict::exceeds);
  EXPECT_EQ(found.excesses.at(0).feature, "avx");
  EXPECT_TRUE(holds(found.dispatched(), "avx512f"));
  EXPECT_TRUE(holds(found.dispatched(), "amx_tile"));
}

// The same facts without the choice at run time: the verdict turns.
TEST(RealBuilds, TheChoiceIsWhatMakesTheDifference) {
  FileFacts facts = real_facts("libtorch_cpu_2.6.0_debian");
  facts.features.at("avx512f").unconditional = Witness{"kernel", 0x1000, "vpxorq zmm0, zmm0, zmm0"};
  RealBuild library(facts);
  EXPECT_EQ(library.verdict("haswell"), Verdict::exceeds);
  EXPECT_EQ(library.verdict("skylake_avx512"), Verdict::conforms);
}

}  // namespace
}  // namespace kiln::evidence
