#include "image/build/test_place.h"

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
  const TestPlace place{host, testing::archspec()};
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 127, "FATAL: kernel too old\n"), "haswell", place),
            "the kernel of this machine (3.10.0-1160) is too old for the image's C library");
  EXPECT_EQ(
      why_not_here(ended(CommandEnd::exited, 0, "FATAL: kernel too old, and caught\n"), "haswell", place),
      "");
  EXPECT_EQ(why_not_here(ended(CommandEnd::signalled, 4), "broadwell", place),
            "this machine (haswell) lacks adx of broadwell");
  EXPECT_EQ(why_not_here(ended(CommandEnd::signalled, 4), "haswell", place), "") << "no excuse";
  EXPECT_EQ(why_not_here(ended(CommandEnd::exited, 1, "AssertionError\n"), "broadwell", place), "");
}

}  // namespace
}  // namespace kiln
