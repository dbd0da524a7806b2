#include "factory/run/test_machine.h"

#include <gtest/gtest.h>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

CommandResult ended(CommandEnd end, int status, std::string tail = "") {
  CommandResult result;
  result.end = end;
  result.status = status;
  result.tail = std::move(tail);
  return result;
}

TEST(UnknownInstruction, IsWhatTheEndOrTheOutputSays) {
  EXPECT_TRUE(met_unknown_instruction(ended(CommandEnd::signalled, 4)));
  EXPECT_TRUE(met_unknown_instruction(ended(CommandEnd::exited, 132)));
  EXPECT_TRUE(met_unknown_instruction(
      ended(CommandEnd::exited, 1, "subprocess.CalledProcessError: died with <Signals.SIGILL: 4>.\n")));
  EXPECT_TRUE(met_unknown_instruction(ended(CommandEnd::exited, 1, "Illegal instruction (core dumped)\n")));
  EXPECT_TRUE(met_unknown_instruction(
      ended(CommandEnd::exited, 1, "subprocess exited on illegal instruction\nError: exit status 1\n")));
  EXPECT_FALSE(met_unknown_instruction(ended(CommandEnd::exited, 0, "SIGILL was caught")));
  EXPECT_FALSE(met_unknown_instruction(ended(CommandEnd::signalled, 11)));
  EXPECT_FALSE(met_unknown_instruction(ended(CommandEnd::exited, 139)));
  EXPECT_FALSE(met_unknown_instruction(ended(CommandEnd::wall_limit, 4)));
}

class Lacking : public ::testing::Test {
 protected:
  std::string on(const std::string& cpu, const std::string& target) const {
    HostDescription host;
    host.cpu = cpu;
    return lacking_here(target, {host, testing::archspec()});
  }
};

TEST_F(Lacking, NamesWhatIsMissing) {
  EXPECT_EQ(on("haswell", "broadwell"), "this machine (haswell) lacks adx of broadwell");
  const std::string many = on("haswell", "skylake_avx512");
  EXPECT_TRUE(many.starts_with("this machine (haswell) lacks adx, avx512bw and ")) << many;
  EXPECT_TRUE(many.ends_with(" more of skylake_avx512")) << many;
}

TEST_F(Lacking, IsNothingWhereTheTargetRuns) {
  EXPECT_EQ(on("skylake_avx512", "haswell"), "");
  EXPECT_EQ(on("haswell", "haswell"), "");
  EXPECT_EQ(on("haswell", "x86_64_v3"), "");
  EXPECT_EQ(on("haswell", "no-such"), "") << "nobody knows what it has";
}

TEST_F(Lacking, OtherFamiliesAreOtherMachines) {
  EXPECT_EQ(on("haswell", "power9le"), "this machine (haswell) does not run code for power9le");
}

TEST(WhyNotHere, IsTheMachineAndNotTheImage) {
  HostDescription host;
  host.cpu = "haswell";
  host.kernel = "3.10.0-1160";
  const TestMachine machine{host, testing::archspec()};
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 127, "FATAL: kernel too old\n"), {"haswell"}, machine),
            "the kernel of this machine (3.10.0-1160) is too old for the image's C library");
  EXPECT_EQ(
      why_not_here(ended(CommandEnd::exited, 0, "FATAL: kernel too old, and caught\n"), {"haswell"}, machine),
      "");
  EXPECT_EQ(why_not_here(ended(CommandEnd::signalled, 4), {"broadwell"}, machine),
            "this machine (haswell) lacks adx of broadwell");
  EXPECT_EQ(why_not_here(ended(CommandEnd::signalled, 4), {"haswell"}, machine), "") << "no excuse";
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 1, "AssertionError\n"), {"broadwell"}, machine), "");
}

TEST(WhyNotHere, AnEmulatorIsNoProcessorOfTheTarget) {
  HostDescription host;
  host.cpu = "haswell";
  const TestMachine machine{host, testing::archspec(), "qemu-aarch64 7.2.22"};
  const CommandResult died =
      ended(CommandEnd::exited, 132, "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n");
  EXPECT_EQ(why_not_here(died, {"neoverse_v1"}, machine),
            "qemu-aarch64 7.2.22 lacks an instruction that it uses");
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 139,
                               "qemu: uncaught target signal 11 (Segmentation fault) - core dumped\n"),
                         {"neoverse_v1"}, machine),
            "");
}

// cudaGetErrorString(209), as PyTorch raises it.
constexpr const char* kNoKernel =
    "RuntimeError: CUDA error: no kernel image is available for execution on the device\n";

TEST(WhyNotHere, AnotherGpuIsAnotherMachine) {
  HostDescription host;
  host.cpu = "haswell";
  host.accelerators = {"nvidia:sm_70"};
  const TestMachine machine{host, testing::archspec()};
  const CommandResult failed = ended(CommandEnd::exited, 1, kNoKernel);
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_90"}}, machine),
            "this machine has nvidia:sm_70, which does not run code for sm_90");
  EXPECT_EQ(why_not_here(failed, {"haswell", {"gfx90a"}}, machine),
            "this machine has nvidia:sm_70, which does not run code for gfx90a");
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_70"}}, machine), "") << "the image has not what it says";
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_60"}}, machine), "") << "its PTX would run";
  EXPECT_EQ(why_not_here(failed, {"haswell"}, machine), "") << "it is for no GPU";
  HostDescription without;
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_90"}}, {without, testing::archspec()}),
            "this machine has no GPU");
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 0, kNoKernel), {"haswell", {"sm_90"}}, machine), "");
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 1, "AssertionError\n"), {"haswell", {"sm_90"}}, machine),
            "");
}

TEST(WhyNotHere, AnOldDriverIsAnotherMachine) {
  HostDescription host;
  host.accelerators = {"nvidia:sm_90"};
  const TestMachine machine{host, testing::archspec()};
  const CommandResult failed =
      ended(CommandEnd::exited, 1, "CUDA driver version is insufficient for CUDA runtime version\n");
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_90"}}, machine),
            "this machine has no GPU driver that the image can use");
  host.driver = "470.82";
  EXPECT_EQ(why_not_here(failed, {"haswell", {"sm_90"}}, machine),
            "the GPU's driver of this machine (470.82) is too old for the image");
  EXPECT_EQ(why_not_here(failed, {"haswell"}, machine), "");
}

TEST(TestTarget, IsWhatTheTestsScriptIsGiven) {
  Step test;
  EXPECT_EQ(test_target(test).cpu, "");
  test.parameters = {{"KILN_CPU_TARGET", "zen3"}, {"KILN_GPU_TARGETS", "sm_80 sm_90"}};
  EXPECT_EQ(test_target(test).cpu, "zen3");
  EXPECT_EQ(test_target(test).gpus, (std::vector<std::string>{"sm_80", "sm_90"}));
}

}  // namespace
}  // namespace kiln
