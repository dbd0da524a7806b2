#include "factory/record/host_description.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/utsname.h>

#include "support/fake_effects.h"

namespace kiln {
namespace {

using testing::FakeFileSystem;

const Microarchitectures& archspec_table() {
  static const Microarchitectures cpus =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  return cpus;
}

std::string sample(const std::string& name) {
  return RealFileSystem()
      .read(fs::path(KILN_ARCHSPEC_JSON).parent_path() / "../tests/targets" / name)
      .value();
}

SystemAnswers system_of(const std::string& machine) { return {machine, "6.1.0-18-test", "2.36", 24}; }

HostDescription describe(const FakeFileSystem& files, const std::string& machine) {
  return describe_host(files, archspec_table(), system_of(machine));
}

TEST(DescribeHost, ReadsProcessorAndMemory) {
  FakeFileSystem files(
      {{"/proc/cpuinfo", sample("linux-rhel7-broadwell")},
       {"/proc/meminfo", "MemTotalOther: 5 kB\nMemTotal:       65807732 kB\nMemFree: 1 kB\n"}});
  HostDescription host = describe(files, "x86_64");
  EXPECT_EQ(host.cpu, "broadwell");
  EXPECT_EQ(host.model, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz");
  EXPECT_EQ(host.cores, 24);
  EXPECT_EQ(host.memory_bytes, std::uint64_t{65807732} * 1024);
  EXPECT_EQ(host.kernel, "6.1.0-18-test");
  EXPECT_EQ(host.glibc, "2.36");
  EXPECT_TRUE(host.accelerators.empty());
}

TEST(DescribeHost, NamesTheModelWhereLinuxDoesNotCallItSo) {
  FakeFileSystem power;
  power.write("/proc/cpuinfo", sample("linux-rhel8-power9"));
  EXPECT_EQ(describe(power, "ppc64le").cpu, "power9le");
  EXPECT_EQ(describe(power, "ppc64le").model, "POWER9, altivec supported");
  FakeFileSystem arm;
  arm.write("/proc/cpuinfo", sample("linux-amazon-neoverse_v1"));
  EXPECT_EQ(describe(arm, "aarch64").cpu, "neoverse_v1");
  EXPECT_EQ(describe(arm, "aarch64").model, "implementer 0x41 part 0xd40");
}

TEST(DescribeHost, WithoutFilesSaysWhatTheSystemSays) {
  HostDescription host = describe(FakeFileSystem(), "aarch64");
  EXPECT_EQ(host.cpu, "aarch64");
  EXPECT_EQ(host.model, "");
  EXPECT_EQ(host.memory_bytes, 0u);
  EXPECT_TRUE(host.accelerators.empty());
  FakeFileSystem odd;
  odd.write("/proc/meminfo", "MemTotal: lots\nMemTotal:\n");
  EXPECT_EQ(describe(odd, "x86_64").memory_bytes, 0u);
}

TEST(DescribeHost, ReadsTheSettingOfTransparentHugePages) {
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  EXPECT_EQ(describe(FakeFileSystem(), "x86_64").transparent_hugepages, "") << "not known";
  EXPECT_EQ(describe(FakeFileSystem({{file, "always [madvise] never\n"}}), "x86_64").transparent_hugepages,
            "madvise");
  EXPECT_EQ(describe(FakeFileSystem({{file, "always madvise [never]\n"}}), "x86_64").transparent_hugepages,
            "never");
  EXPECT_EQ(describe(FakeFileSystem({{file, "always [sometimes]\n"}}), "x86_64").transparent_hugepages, "");
}

TEST(DescribeHost, FindsAccelerators) {
  FakeFileSystem nvidia;
  nvidia.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15\n");
  EXPECT_EQ(describe(nvidia, "x86_64").accelerators, std::vector<std::string>{"nvidia"});

  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  FakeFileSystem amd({{nodes + "0/properties", "cpu_cores_count 64\ngfx_target_version 0\n"},
                      {nodes + "1/properties", "simd_count 440\ngfx_target_version 90010\n"},
                      {nodes + "2/properties", "simd_count 440\ngfx_target_version 90010\n"},
                      {nodes + "3/properties", "simd_count 192\ngfx_target_version 110000\n"},
                      {nodes + "4/name", "no properties\n"}});
  EXPECT_EQ(describe(amd, "x86_64").accelerators, (std::vector<std::string>{"amd:gfx1100", "amd:gfx90a"}));
}

TEST(AskSystem, AgreesWithTheKernel) {
  SystemAnswers system = ask_system();
  utsname name{};
  ASSERT_EQ(uname(&name), 0);
  EXPECT_EQ(system.machine, name.machine);
  EXPECT_EQ(system.kernel, name.release);
  EXPECT_EQ(system.glibc, fmt::format("{}.{}", __GLIBC__, __GLIBC_MINOR__));
  EXPECT_GT(system.cores, 0);
}

TEST(AskSystem, CountsOnlyProcessorsThatWeMayUse) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(ask_system().cores, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(ask_system().cores, CPU_COUNT(&all));
}

TEST(DetectHost, DescribesThisMachine) {
  HostDescription host = detect_host(RealFileSystem(), archspec_table());
  ASSERT_NE(archspec_table().find(host.cpu), nullptr) << host.cpu;
  EXPECT_EQ(archspec_table().family(host.cpu), ask_system().machine);
  EXPECT_GT(host.memory_bytes, std::uint64_t{64} << 20);
}

}  // namespace
}  // namespace kiln
