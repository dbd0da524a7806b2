#include "registry/select/cpu_code.h"

#include <filesystem>

#include "factory/record/host_description.h"
#include "index/samples.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

using testing::archspec;

const Microarchitecture& target(const std::string& name) { return *archspec().find(name); }

// archspec's own collection: /proc/cpuinfo of one processor a file, linux-<system>-<microarchitecture>.
std::filesystem::path collection() {
  return std::filesystem::path(KILN_ARCHSPEC_JSON).parent_path() / "../tests/targets";
}

HostDescription described(const std::string& file, const std::string& machine,
                          const std::vector<std::string>& hidden = {}) {
  std::string cpuinfo = testing::read_bytes((collection() / file).string());
  for (const std::string& word : hidden)
    for (std::size_t at = cpuinfo.find(" " + word + " "); at != std::string::npos;
         at = cpuinfo.find(" " + word + " "))
      cpuinfo.erase(at, word.size() + 1);
  testing::FakeFileSystem files;
  files.write("/proc/cpuinfo", cpuinfo);
  return describe_host(files, archspec(), {machine, "6.1.0", "2.36", 8});
}

std::string machine_of(const std::string& name) {
  const std::string& family = target(name).family;
  return family == "ppc64" && name.starts_with("power8") ? "ppc64le" : family;
}

TEST(HostCpu, EachOfTheCollectionRunsItsOwnCodeAndThatOfItsAncestors) {
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(collection())) {
    const std::string name = file.path().filename();
    if (!name.starts_with("linux-")) continue;
    const std::string expected = name.substr(name.rfind('-') + 1);
    const HostDescription host = described(name, machine_of(expected));
    ASSERT_EQ(host.cpu, expected) << name;
    const HostCpu cpu(host, archspec());
    EXPECT_TRUE(cpu.runs(target(expected))) << name;
    EXPECT_TRUE(cpu.fit(target(expected)).own_name) << name;
    for (const std::string& ancestor : target(expected).ancestors)
      EXPECT_TRUE(cpu.runs(target(ancestor))) << name << " " << ancestor;
    ++seen;
  }
  EXPECT_GE(seen, 40);
}

// What is in no list but /proc/cpuinfo's is there all the same.
TEST(HostCpu, FeaturesNotNames) {
  HostDescription host;
  host.cpu = "x86_64_v4";
  EXPECT_FALSE(HostCpu(host, archspec()).runs(target("haswell"))) << "by its name it has no aes";
  host.features = {target("skylake_avx512").features.begin(), target("skylake_avx512").features.end()};
  EXPECT_TRUE(HostCpu(host, archspec()).runs(target("haswell")));
  EXPECT_TRUE(HostCpu(host, archspec()).runs(target("skylake_avx512")));
  EXPECT_FALSE(HostCpu(host, archspec()).runs(target("icelake")));
}

TEST(HostCpu, AnotherVendorsCodeRunsWhereItsFeaturesAre) {
  HostDescription host;
  host.cpu = "zen4";
  const HostCpu cpu(host, archspec());
  EXPECT_TRUE(cpu.runs(target("haswell"))) << "archspec's list of zen4 leaves rdrand out";
  EXPECT_GT(cpu.fit(target("haswell")), cpu.fit(target("x86_64_v2")));
  EXPECT_GT(cpu.fit(target("zen3")), cpu.fit(target("haswell"))) << "the own line";
  EXPECT_GT(cpu.fit(target("x86_64_v4")), cpu.fit(target("zen3"))) << "the higher level";
  EXPECT_GT(cpu.fit(target("zen4")), cpu.fit(target("x86_64_v4")));
  EXPECT_FALSE(cpu.runs(target("sapphirerapids")));
  EXPECT_FALSE(cpu.runs(target("neoverse_v1")));
}

// As Azure's machines do it: archspec then says x86_64_v4 of a Zen 4.
TEST(HostCpu, AVirtualMachineThatHidesFeatures) {
  const HostDescription host = described("linux-rocky8.5-zen4", "x86_64", {"pku", "flush_l1d"});
  EXPECT_EQ(host.cpu, "x86_64_v4");
  EXPECT_EQ(host.vendor, "AuthenticAMD");
  const HostCpu cpu(host, archspec());
  EXPECT_TRUE(cpu.runs(target("zen4")));
  EXPECT_TRUE(cpu.fit(target("zen4")).own_name) << "still best served with code for Zen 4";
  EXPECT_GT(cpu.fit(target("zen4")), cpu.fit(target("x86_64_v4")));
}

TEST(HostCpu, NamesWhatIsMissing) {
  const HostDescription host = described("linux-rhel7-x86_64_v3", "x86_64");
  const HostCpu cpu(host, archspec());
  EXPECT_EQ(cpu.missing(target("haswell")), std::vector<std::string>{"aes"}) << "switched off in the BIOS";
  EXPECT_FALSE(cpu.runs(target("haswell")));
}

// A GH200: its cpuinfo and archspec's list of neoverse_v2 lack what no compiler emits unasked.
TEST(HostCpu, ArmsFeaturesThatNoCompilerEmitsUnaskedAreNotNeeded) {
  HostDescription grace;
  grace.cpu = "neoverse_v2";
  EXPECT_TRUE(HostCpu(grace, archspec()).runs(target("neoverse_v1"))) << "by its name";
  grace.features = {target("neoverse_v1").features.begin(), target("neoverse_v1").features.end()};
  for (const char* hidden : {"rng", "dgh", "dit", "ssbs", "dcpop", "dcpodp", "evtstrm", "cpuid"})
    std::erase(grace.features, hidden);
  EXPECT_TRUE(HostCpu(grace, archspec()).runs(target("neoverse_v1")));
  EXPECT_EQ(HostCpu(grace, archspec()).missing(target("neoverse_v1")), std::vector<std::string>{});
  HostDescription apple;
  apple.cpu = "m1";
  apple.features = {target("m2").features.begin(), target("m2").features.end()};
  for (const char* hidden : {"flagm2", "bti", "sb", "ecv"}) std::erase(apple.features, hidden);
  EXPECT_EQ(HostCpu(apple, archspec()).missing(target("m2")), std::vector<std::string>{});
}

TEST(HostCpu, ArmsFeaturesThatCompilersEmitAreNeeded) {
  for (const char* needed : {"sve", "bf16", "i8mm", "atomics", "asimddp", "jscvt", "fphp", "flagm", "uscat",
                             "ilrcpc", "crc32", "sha3"}) {
    HostDescription host;
    host.cpu = "neoverse_v1";
    host.features = {target("neoverse_v1").features.begin(), target("neoverse_v1").features.end()};
    std::erase(host.features, needed);
    EXPECT_EQ(HostCpu(host, archspec()).missing(target("neoverse_v1")), std::vector<std::string>{needed});
  }
}

TEST(HostCpu, OnArmTheCodeWithMoreOfItsFeaturesIsBetter) {
  auto better = [](const std::string& host, const std::string& one, const std::string& other) {
    HostDescription described;
    described.cpu = host;
    const HostCpu cpu(described, archspec());
    EXPECT_TRUE(cpu.runs(target(one)) && cpu.runs(target(other)));
    return cpu.fit(target(one)) > cpu.fit(target(other));
  };
  EXPECT_TRUE(better("neoverse_v2", "neoverse_v1", "neoverse_n1")) << "SVE and bf16, though no ancestor";
  EXPECT_TRUE(better("neoverse_n2", "neoverse_v1", "neoverse_n1"));
  EXPECT_TRUE(better("neoverse_v2", "neoverse_n2", "neoverse_v1")) << "SVE2";
  EXPECT_TRUE(better("neoverse_v2", "armv9.0a", "neoverse_v1")) << "SVE2, though archspec lists no features";
  EXPECT_TRUE(better("neoverse_v2", "a64fx", "neoverse_n1")) << "SVE";
  EXPECT_TRUE(better("neoverse_v2", "neoverse_v2", "neoverse_n2")) << "its own";
  EXPECT_TRUE(better("neoverse_v1", "neoverse_n1", "cortex_a72"));
  EXPECT_TRUE(better("neoverse_v1", "armv8.4a", "armv8.2a"));
  EXPECT_TRUE(better("neoverse_v1", "armv8.4a", "cortex_a72"));
  EXPECT_TRUE(better("neoverse_n1", "armv8.1a", "aarch64"));
}

TEST(HostCpu, WhereFeaturesDoNotTellItsOrderDoes) {
  HostDescription arm;
  arm.cpu = "neoverse_v1";
  EXPECT_TRUE(HostCpu(arm, archspec()).runs(target("armv8.4a")));
  EXPECT_FALSE(HostCpu(arm, archspec()).runs(target("armv9.0a"))) << "it lists no features";
  EXPECT_TRUE(HostCpu(arm, archspec()).runs(target("neoverse_n1")));
  HostDescription power;
  power.cpu = "power9le";
  EXPECT_TRUE(HostCpu(power, archspec()).runs(target("power8le")));
  EXPECT_FALSE(HostCpu(power, archspec()).runs(target("power10le")));
  EXPECT_FALSE(HostCpu(power, archspec()).runs(target("power8"))) << "big-endian";
}

TEST(CpuReach, FewerFeaturesReachFurther) {
  EXPECT_LT(CpuReach{}, reach_of(target("x86_64"), {})) << "no target at all";
  EXPECT_LT(reach_of(target("x86_64_v2"), {}), reach_of(target("zen4"), {}));
  EXPECT_LT(reach_of(target("x86_64_v2"), {}), reach_of(target("neoverse_v1"), {}));
  EXPECT_LT(reach_of(target("x86_64_v3"), {}), reach_of(target("x86_64_v3"), {"avx512f"}))
      << "code that exceeds its target";
  EXPECT_EQ(reach_of(target("x86_64_v3"), {}), reach_of(target("x86_64_v3"), {"avx2"}));
}

}  // namespace
}  // namespace kiln
