// Whole images: verdicts, libraries, glibc, and what a build keeps of them.
#include "factory/evidence/evidence.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "compiled.h"
#include "support/layout.h"

namespace kiln::evidence {
namespace {

using testing::Compiler;

const Microarchitectures& cpus() {
  static const Microarchitectures kCpus = [] {
    std::ifstream in(KILN_ARCHSPEC_JSON);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    return Microarchitectures::parse(text, KILN_ARCHSPEC_JSON);
  }();
  return kCpus;
}

constexpr const char* kLoop =
    "void f(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }";

class EvidenceTest : public ::testing::Test {
 protected:
  Evidence judged(const Declaration& declared) {
    files_ = read_folder(root.path(), {});
    return judge(files_, declared, cpus());
  }
  Declaration target(const std::string& name) {
    Declaration declared;
    declared.target = name;
    declared.optimised = true;
    return declared;
  }
  Compiler compiler;
  kiln::testing::TemporaryFolder root;

 private:
  ImageFiles files_;
};

TEST_F(EvidenceTest, OfPowerNobodyCanTell) {
  EXPECT_EQ(judged(target("power9le")).verdict, Verdict::not_judged);
  EXPECT_EQ(judged(target("neoverse_n1")).verdict, Verdict::not_optimised);
}

TEST_F(EvidenceTest, AWrongImageIsNamedToTheInstruction) {
  root.write(
      "opt/app/bin/solve",
      compiler.compile(
          "__attribute__((noinline)) static void kernel(float* x, long n) { for (long i = 0; i < n; ++i) "
          "x[i] = x[i] * 3 + 1; }\nint main(int n, char** v) { kernel((float*)v, n); return 0; }",
          "-O3 -march=skylake-avx512 -mprefer-vector-width=512"));
  Evidence found = judged(target("x86_64_v3"));
  EXPECT_EQ(found.verdict, Verdict::exceeds);
  ASSERT_FALSE(found.excesses.empty());
  bool named = false;
  for (const Excess& excess : found.excesses) {
    named |= excess.feature == "avx512f" && excess.witness.symbol.starts_with("kernel");
    EXPECT_EQ(excess.file, "opt/app/bin/solve");
    EXPECT_GT(excess.witness.address, 0u);
  }
  EXPECT_TRUE(named) << to_table(found, false);
  EXPECT_NE(to_table(found, false).find("beyond the target"), std::string::npos);
  EXPECT_EQ(judged(target("skylake_avx512")).verdict, Verdict::conforms);
  EXPECT_EQ(judged(Declaration{}).verdict, Verdict::not_judged);
}

TEST_F(EvidenceTest, TheLowestTargetThatHoldsTheCodeIsNamed) {
  auto lowest = [&](const std::string& flags, const std::string& declared) {
    root.write("opt/lib/libf.so", compiler.shared(kLoop, "-O3 " + flags));
    return judged(target(declared)).lowest_target;
  };
  EXPECT_EQ(lowest("-march=haswell", "x86_64"), "x86_64_v3");
  EXPECT_EQ(lowest("-march=skylake-avx512 -mprefer-vector-width=512", "x86_64_v3"), "x86_64_v4");
  EXPECT_EQ(lowest("-march=haswell", "zen3"), "") << "it conforms";
  // What other files need counts, too: the whole image has to run.
  root.write("opt/lib/libg.so",
             compiler.shared("int g(int x) { return __builtin_popcount(x); }", "-O3 -mpopcnt"));
  root.write(
      "opt/lib/libh.so",
      compiler.shared("#include <immintrin.h>\nvoid h(__m128i* x) { *x = _mm_sha256msg1_epu32(*x, *x); }",
                      "-O3 -msha"));
  const std::string both = lowest("-march=haswell", "x86_64");
  EXPECT_TRUE(cpus().has_feature(both, "avx2") && cpus().has_feature(both, "sha_ni")) << both;
  EXPECT_NE(to_table(judged(target("x86_64")), false).find("holds it   " + both + ", the lowest target"),
            std::string::npos);
}

TEST_F(EvidenceTest, BaselineCodeUnderAnOptimisedNameIsNotOptimised) {
  root.write("opt/lib/libf.so", compiler.shared(kLoop, "-O3"));
  EXPECT_EQ(judged(target("broadwell")).verdict, Verdict::not_optimised);
  EXPECT_EQ(judged(target("x86_64")).verdict, Verdict::conforms);  // nothing was promised
  Declaration modest = target("broadwell");
  modest.optimised = false;
  EXPECT_EQ(judged(modest).verdict, Verdict::conforms);
  root.write("opt/lib/libg.so", compiler.shared(kLoop, "-O3 -march=haswell"));
  EXPECT_EQ(judged(target("broadwell")).verdict, Verdict::conforms);
}

TEST_F(EvidenceTest, DistributionsFilesDoNotMakeAnImageOptimised) {
  root.write("opt/lib/libf.so", compiler.shared(kLoop, "-O3"));
  root.write("usr/lib/x86_64-linux-gnu/libcrypto.so.3", compiler.shared(kLoop, "-O3 -march=haswell"));
  EXPECT_EQ(judged(target("broadwell")).verdict, Verdict::not_optimised);
}

TEST_F(EvidenceTest, TheLoadersFoldersAreItsChoice) {
  std::string bytes = compiler.shared(kLoop, "-O3 -march=haswell");
  root.write("usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libf.so", bytes);
  EXPECT_EQ(judged(target("x86_64")).verdict, Verdict::conforms);
  root.write("usr/lib/x86_64-linux-gnu/libf.so", bytes);
  EXPECT_EQ(judged(target("x86_64")).verdict, Verdict::exceeds);
}

TEST_F(EvidenceTest, AcceptedFilesAreReportedAndDoNotFail) {
  root.write("usr/lib/x86_64-linux-gnu/libpsm2.so.2.2", compiler.shared(kLoop, "-O3 -mavx"));
  Evidence found = judged(target("x86_64"));
  EXPECT_EQ(found.verdict, Verdict::conforms);
  ASSERT_FALSE(found.excesses.empty());
  EXPECT_NE(found.excesses.front().accepted, "");
  EXPECT_NE(to_table(found, false).find("accepted"), std::string::npos);
}

TEST_F(EvidenceTest, LibrariesAreFoundAsTheLoaderFindsThem) {
  std::string empty = "int g(void) { return 1; }";
  root.write("lib1/libone.so", compiler.shared(empty, "-Wl,-soname,libone.so"));
  root.write("plugins/libtwo.so", compiler.shared(empty, "-Wl,-soname,libtwo.so"));
  std::string one = (root / "lib1/libone.so").string(), two = (root / "plugins/libtwo.so").string();
  auto uses = [&](const std::string& flags) {
    return compiler.shared("int f(void) { return 2; }", "-nostdlib -Wl,--no-as-needed " + flags);
  };
  root.write("app/a.so", uses("'" + one + "' -Wl,-rpath,'$ORIGIN/../lib1'"));
  root.write("app/b.so", uses("'" + one + "'"));
  root.write("app/c.so", uses("'" + two + "'"));
  Evidence found = judged({});
  ASSERT_EQ(found.missing.size(), 2u);
  EXPECT_EQ(found.missing[0].file, "app/b.so");
  EXPECT_EQ(found.missing[0].library, "libone.so");
  EXPECT_EQ(found.missing[0].elsewhere, "lib1/libone.so");
  root.write("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  root.write("etc/ld.so.conf.d/x.conf", "# ours\n/lib1\n");
  ASSERT_EQ(judged({}).missing.size(), 1u);
  Declaration with_path;
  with_path.library_path = "/nowhere:/plugins";
  EXPECT_TRUE(judged(with_path).missing.empty());
}

TEST_F(EvidenceTest, OnlyWhatStopsAProgramCountsAgainstAnImage) {
  kiln::testing::TemporaryFolder outside;  // libraries that the image does not get
  auto library = [&](const std::string& name, const std::string& flags) {
    return compiler.shared("int " + name + "(void) { return 1; }",
                           "-nostdlib -Wl,--no-as-needed -Wl,-soname,lib" + name + ".so " + flags);
  };
  auto lacking = [&](const std::string& name) {
    outside.write("lib" + name + ".so", library(name, ""));
    return "'" + (outside / ("lib" + name + ".so")).string() + "' ";
  };
  auto stopping = [&] {
    const Evidence found = judged({});
    std::string libraries;
    for (const MissingLibrary& one : that_stop_programs(found.missing, found.files))
      libraries += one.file + ":" + one.library + " ";
    return libraries;
  };
  root.write("opt/plugins/libplugin.so", library("plugin", lacking("rdma")));
  EXPECT_EQ(judged({}).missing.size(), 1u);
  EXPECT_EQ(stopping(), "") << "nobody has to load it";
  root.write("usr/lib/libchain.so", library("chain", lacking("deep") + lacking("cuda")));
  EXPECT_EQ(stopping(), "") << "nothing is linked with it yet";
  const std::string chain = "'" + (root / "usr/lib/libchain.so").string() + "' ";
  root.write("usr/bin/solve",
             compiler.compile("int main(void) { return 0; }",
                              "-Wl,--no-as-needed -Wl,--allow-shlib-undefined " + chain + lacking("near")));
  EXPECT_EQ(stopping(), "usr/bin/solve:libnear.so usr/bin/solve:libc.so.6 usr/lib/libchain.so:libdeep.so ")
      << "the driver brings libcuda.so";
}

TEST_F(EvidenceTest, LinksInTheImageAreFollowedInside) {
  root.write("usr/lib/libone.so.1.2",
             compiler.shared("int g(void) { return 1; }", "-Wl,-soname,libone.so.1"));
  std::filesystem::create_symlink("/usr/lib/libone.so.1.2", root / "usr/lib/libone.so.1");
  std::filesystem::create_symlink("usr/lib", root / "lib");
  std::filesystem::create_symlink("/loop", root / "loop");
  kiln::testing::TemporaryFolder outside;
  outside.write("libone.so.1", compiler.shared("int g(void) { return 1; }", "-Wl,-soname,libone.so.1"));
  root.write("app/a.so",
             compiler.shared("int f(void) { return 2; }",
                             "-nostdlib -Wl,--no-as-needed '" + (outside / "libone.so.1").string() + "'"));
  EXPECT_TRUE(judged({}).missing.empty());
}

TEST_F(EvidenceTest, GlibcThatIsNeededAndProvided) {
  root.write("app/a", compiler.compile("#include <stdio.h>\nint main(void) { puts(\"\"); return 0; }", ""));
  Evidence found = judged({});
  EXPECT_TRUE(found.glibc.needed.starts_with("2."));
  EXPECT_EQ(found.glibc.file, "app/a");
  EXPECT_EQ(found.glibc.provided, "");
}

TEST_F(EvidenceTest, DamagedFilesAreProblemsNotFailures) {
  root.write("a",
             "\x7f"
             "ELF too short");
  root.write("b",
             "\x7f"
             "EL");
  Evidence found = judged(target("x86_64"));
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_EQ(found.problems[0].first, "a");
  EXPECT_EQ(found.verdict, Verdict::conforms);
}

TEST(EvidenceTarget, UnknownNamesGetASuggestion) {
  try {
    features_of_target(cpus(), "skylake_avx51");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(error.hint().find("skylake_avx512"), std::string::npos);
  }
}

TEST(EvidenceTarget, FeaturesAreArchspecs) {
  for (const Feature& feature : feature_table()) {
    if (!feature.judged || feature.name == "sme") continue;
    bool known = false;
    for (const std::string& name : cpus().names())
      known |= cpus().find(name)->features.contains(std::string(feature.name));
    EXPECT_TRUE(known || feature.name == "avx512er" || feature.name == "avx512pf") << feature.name;
  }
  EXPECT_EQ(names_of(features_of_target(cpus(), "x86_64")), (std::vector<std::string>{"sse", "sse2"}));
}

// Layers are read as streams; what an upper layer removes is not evidence.
TEST(ImageFilesTest, LayersAreMergedBeforeTheyAreJudged) {
  using kiln::testing::tar;
  Compiler compiler;
  std::string wide = compiler.shared(kLoop, "-O3 -march=skylake-avx512 -mprefer-vector-width=512");
  kiln::testing::TestLayout layout;
  std::string lower = tar({{"opt/libf.so", '0', wide}, {"etc/motd", '0', "hello"}});
  layout.one_image({lower});
  auto read = [&] {
    SourceImage image = SourceImage::open({"oci", layout.path(), ""}, "amd64");
    ImageFiles files = read_image(image, {});
    Declaration declared;
    declared.target = "x86_64_v3";
    return judge(files, declared, cpus()).verdict;
  };
  EXPECT_EQ(read(), Verdict::exceeds);
  layout.one_image({lower, tar({{"opt/.wh.libf.so", '0', ""}})});
  EXPECT_EQ(read(), Verdict::conforms);
}

TEST(ImageFilesTest, TheCacheGivesTheSameAnswer) {
  kiln::testing::TemporaryFolder folder;
  RealFileSystem files;
  CacheFolder kept(folder.path(), "1", files);
  FolderCache cache(kept);
  std::string bytes = Compiler().shared(kLoop, "-O3 -march=haswell");
  FileFacts facts = examine(bytes, 1);
  facts.code_bytes = FolderCache::kCachedCode;
  Digest digest = Digest::of(bytes);
  EXPECT_FALSE(cache.find(digest));
  cache.keep(digest, facts);
  ASSERT_TRUE(cache.find(digest));
  EXPECT_EQ(to_json(*cache.find(digest)), to_json(facts));
  CacheFolder other(folder.path(), "2", files);
  EXPECT_FALSE(FolderCache(other).find(digest)) << "found by another kiln, or by another table of names";
}

}  // namespace
}  // namespace kiln::evidence
