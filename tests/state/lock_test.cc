#include "factory/state/lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

fs::path private_folder() {
  std::string pattern = (fs::temp_directory_path() / "kiln-lock-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  return pattern;
}

TEST(StateLock, TheSecondIsToldWhoAndSinceWhen) {
  fs::path folder = private_folder();
  const StatePaths state(folder);
  testing::FakeClock clock;
  {
    StateLock first(state, clock, "kiln build of demo");
    try {
      StateLock second(state, clock, "kiln publish");
      FAIL() << "two writers";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::locked);
      std::string expected = "kiln build of demo by process " + std::to_string(::getpid());
      EXPECT_NE(error.message().find(expected), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("since 2023-11-14T22:13:20Z"), std::string::npos) << error.message();
    }
  }
  EXPECT_NO_THROW(StateLock(state, clock, "kiln build"));
  fs::remove_all(folder);
}

TEST(StateLock, WhoMayWaitIsToldForWhomAndGetsIt) {
  fs::path folder = private_folder();
  const StatePaths state(folder);
  testing::FakeClock clock;
  std::optional<StateLock> first(std::in_place, state, clock, "kiln build of demo");
  std::string holder;
  StateLock second(state, clock, "kiln publish", [&](const std::string& who) {
    holder = who;
    first.reset();
  });
  EXPECT_TRUE(holder.starts_with("kiln build of demo by process ")) << holder;
  EXPECT_TRUE(RealFileSystem().read(folder / "lock").value().starts_with("kiln publish by process "));
  fs::remove_all(folder);
}

TEST(StateLock, ADeadProcessHoldsNothing) {
  fs::path folder = private_folder();
  const StatePaths state(folder);
  testing::FakeClock clock;
  pid_t child = ::fork();
  if (child == 0) {
    StateLock lock(state, clock, "kiln build");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NO_THROW(StateLock(state, clock, "kiln build"));
  fs::remove_all(folder);
}

// --- builds that share the folder

// Two processes of a test: what one holds is the other's to find.
class SharedState : public ::testing::Test {
 protected:
  struct Build {
    Build(const StatePaths& state, const std::string& plan, const Clock& clock)
        : shared(state, clock, "kiln build of " + plan, {}, LockKind::shared),
          own(state, plan, clock, "kiln build of " + plan) {}
    StateLock shared;
    BuildLock own;
  };

  static std::string refusal(const std::function<void()>& take) {
    try {
      take();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::locked);
      return error.message();
    }
  }
  std::string refused_build(const std::string& plan) {
    return refusal([&] { const Build build(state, plan, clock); });
  }
  std::string refused_alone() {
    return refusal([&] { const StateLock alone(state, clock, "kiln gc"); });
  }
  std::string holder(const std::string& purpose) const { return purpose + " by " + this_process(clock); }

  testing::TemporaryFolder folder;
  StatePaths state{folder.path()};
  testing::FakeClock clock;
  RealFileSystem files;
};

TEST_F(SharedState, BuildsOfTwoPlansWorkAtOnce) {
  const Build one(state, "one", clock);
  EXPECT_EQ(refused_build("two"), "");
  const Build two(state, "two", clock);
  EXPECT_EQ(other_builds(state, files, "one"), std::vector<std::string>{holder("kiln build of two")});
  EXPECT_EQ(other_builds(state, files).size(), 2u);
}

TEST_F(SharedState, TheSecondBuildOfAPlanIsToldWhoBuildsIt) {
  const Build one(state, "one", clock);
  EXPECT_EQ(refused_build("one"),
            "'one' in " + folder.path().string() + " is in use: " + holder("kiln build of one"));
}

TEST_F(SharedState, WhoWouldBeAloneIsToldOfEachBuild) {
  const Build one(state, "one", clock);
  const Build two(state, "two", clock);
  EXPECT_EQ(refused_alone(), folder.path().string() + " is in use: " + holder("kiln build of one") + "; " +
                                 holder("kiln build of two"));
}

TEST_F(SharedState, WhoIsAloneIsNamedToABuild) {
  const StateLock alone(state, clock, "kiln gc");
  EXPECT_EQ(refused_build("one"), folder.path().string() + " is in use: " + holder("kiln gc"));
}

// Builds that overlap without end: each that comes after `kiln gc --wait` is refused, or waits behind it.
TEST_F(SharedState, NoBuildBeginsBeforeACommandThatWaitsToBeAlone) {
  auto one = std::make_unique<Build>(state, "one", clock);
  std::thread waiting;
  std::atomic<bool> is_alone = false;
  waiting = std::thread([&] {
    const StateLock alone(state, clock, "kiln gc", [](const std::string&) {});
    is_alone = true;
  });
  std::string refused;
  while ((refused = refused_build("two")).empty()) std::this_thread::yield();
  EXPECT_FALSE(is_alone);
  EXPECT_TRUE(refused.ends_with(", which waits for " + holder("kiln build of one"))) << refused;
  one.reset();
  waiting.join();
  EXPECT_TRUE(is_alone);
  EXPECT_EQ(refused_build("two"), "");
}

TEST_F(SharedState, ABuildThatWaitsIsToldForWhom) {
  auto one = std::make_unique<BuildLock>(state, "one", clock, "kiln build of one");
  std::string told;
  const BuildLock second(state, "one", clock, "kiln build of one, again", [&](const std::string& who) {
    told = who;
    one.reset();
  });
  EXPECT_EQ(told, holder("kiln build of one"));
  EXPECT_TRUE(files.read(state.build_lock("one")).value().starts_with("kiln build of one, again by "));
}

// What it left in its folder is no build at work.
TEST_F(SharedState, ADeadBuildIsNone) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Build build(state, "one", clock);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(files.exists(state.build_lock("one")));
  EXPECT_TRUE(other_builds(state, files).empty());
  EXPECT_EQ(refused_alone(), "");
  EXPECT_EQ(refused_build("one"), "");
}

}  // namespace
}  // namespace kiln
