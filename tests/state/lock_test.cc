#include "factory/state/lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
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

class Claims : public ::testing::Test {
 protected:
  // A process that claims `key` and says so; it goes on until it is killed.
  pid_t claim_elsewhere(const std::string& key) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const Claim claim(state, key, clock, [](const std::string&) { ::_exit(1); });
      if (::write(ready[1], "", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  testing::TemporaryFolder folder;
  StatePaths state{folder.path()};
  RealFileSystem files;
  testing::FakeClock clock;
};

TEST_F(Claims, GoWithTheirHolder) {
  {
    const Claim claim(state, "a", clock, [](const std::string&) { FAIL() << "nobody else has it"; });
    EXPECT_TRUE(files.read(state.running("a")).value().starts_with("process " + std::to_string(::getpid())));
    EXPECT_EQ(living_claims(state, files), 1u);
    EXPECT_TRUE(take_dead_claims(state, files).empty());
  }
  EXPECT_EQ(living_claims(state, files), 0u);
  EXPECT_TRUE(files.list(state.running()).empty());
}

TEST_F(Claims, OfTheKilledAreFoundOnce) {
  const pid_t child = claim_elsewhere("a");
  const Claim alive(state, "b", clock, [](const std::string&) {});
  EXPECT_TRUE(take_dead_claims(state, files).empty());
  kill(child);
  std::vector<DeadClaim> dead = take_dead_claims(state, files);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].key, "a");
  EXPECT_TRUE(dead[0].holder.starts_with("process " + std::to_string(child) + " on ")) << dead[0].holder;
  EXPECT_TRUE(take_dead_claims(state, files).empty());
  EXPECT_EQ(living_claims(state, files), 1u);
}

TEST_F(Claims, TheSecondWaitsForTheFirst) {
  const pid_t child = claim_elsewhere("a");
  std::string holder;
  const Claim claim(state, "a", clock, [&](const std::string& who) {
    holder = who;
    kill(child);
  });
  EXPECT_TRUE(holder.starts_with("process " + std::to_string(child) + " on ")) << holder;
  EXPECT_TRUE(files.read(state.running("a")).value().starts_with("process " + std::to_string(::getpid())));
}

TEST_F(Claims, AreTakenOnlyWhereNobodyHasThem) {
  {
    auto ours = Claim::try_take(state, "a", "who we are");
    ASSERT_TRUE(ours);
    EXPECT_EQ(files.read(state.running("a")), "who we are");
    EXPECT_FALSE(Claim::try_take(state, "a", "another"));
    const Claim moved = std::move(*ours);
    ours.reset();
    EXPECT_FALSE(Claim::try_take(state, "a", "another")) << "it is held where it was moved to";
  }
  EXPECT_FALSE(files.exists(state.running("a")));
}

// While a death is recorded no other process begins the step anew: its success would be overwritten.
TEST_F(Claims, OfTheDeadAreHeldWhileTheyAreTold) {
  kill(claim_elsewhere("a"));
  int told = 0;
  take_dead_claims(state, files, [&](const DeadClaim& dead) {
    ++told;
    EXPECT_EQ(dead.key, "a");
    EXPECT_FALSE(Claim::try_take(state, "a", "too early"));
  });
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(Claim::try_take(state, "a", "now"));
}

TEST_F(Claims, AreThoseOfTheBuildThatMadeThem) {
  const Claim ours(
      state, "a", clock, [](const std::string&) {}, "tiny");
  EXPECT_EQ(living_claims(state, files, "tiny"), 1u);
  EXPECT_EQ(living_claims(state, files, "iny"), 0u);
  EXPECT_EQ(living_claims(state, files, "other"), 0u);
  EXPECT_EQ(living_claims(state, files), 1u);
  EXPECT_TRUE(wait_for_claims(state, files, clock, "other")) << "that build has none to wait for";
}

// Many want one step: one after the other has it, though each takes the file away.
TEST_F(Claims, NeverTwoAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    for (int round = 0; round < 20; ++round) {
      const Claim claim(state, "a", clock, [](const std::string&) {});
      const std::string inside = folder / "inside";
      if (::mkdir(inside.c_str(), 0700) != 0 || ::rmdir(inside.c_str()) != 0) ::_exit(1);
    }
    ::_exit(0);
  }
  for (pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(Claims, WhatTheKilledWroteHalfIsSweptWhenNobodyWrites) {
  for (const char* name :
       {".formats.12.0.tmp", "steps/.a.json.12.1.tmp", "built/.b.json.12.1.tmp", "plans/.demo.json.12.1.tmp",
        "builds/demo/.build.ninja.12.0.tmp", "builds/demo/recipes/framework/hello/.distro.sh.12.2.tmp",
        "images/hello/.2.1-distro-12-0123abcd/oci-layout",
        "images/hello/.2.1-distro-12-0123abcd.old/oci-layout", "evidence/layer-1.lock",
        "sif.snapshots/.4-0123-12-0123abcd/x.sif"})
    folder.write(name, "half");
  const std::vector<std::string> stay = {
      "steps/a.json",     "images/hello/2.1-distro/oci-layout",           "lock",
      "evidence/layer-1", "builds/demo/recipes/framework/hello/.profile", "index.db",
      "tmp/.lock"};
  for (const std::string& name : stay) folder.write(name, "whole");
  {
    const Claim claim(state, "a", clock, [](const std::string&) {});
    sweep_state(state, files);
    EXPECT_TRUE(files.exists(folder / "steps/.a.json.12.1.tmp")) << "a step may be writing it";
  }
  sweep_state(state, files);
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(folder.path()).string());
  EXPECT_EQ(found, std::set<std::string>(stay.begin(), stay.end()));
}

}  // namespace

}  // namespace kiln
