// Who may start beside whom, and that a killed one's share is free again.
#include "factory/state/memory_share.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(MayStart, WhatFitsAndAlwaysOneThatIsAlone) {
  EXPECT_TRUE(may_start({0, 100, false}, {}, 10)) << "alone";
  EXPECT_TRUE(may_start({1, 4, false}, {{0, 6, true}}, 10));
  EXPECT_FALSE(may_start({1, 5, false}, {{0, 6, true}}, 10));
  EXPECT_FALSE(may_start({1, 11, false}, {{0, 0, true}}, 10));
  EXPECT_TRUE(may_start({1, 0, false}, {{0, 10, true}}, 10));
  EXPECT_FALSE(may_start({1, 1, false}, {{0, 100, true}}, 10)) << "one that is too large runs alone";
}

TEST(MayStart, NobodyOvertakesWhoCameBefore) {
  EXPECT_FALSE(may_start({3, 1, false}, {{0, 6, true}, {2, 9, false}}, 10));
  EXPECT_TRUE(may_start({1, 1, false}, {{0, 6, true}, {2, 9, false}}, 10));
  EXPECT_TRUE(may_start({1, 99, false}, {{2, 9, false}}, 10)) << "waiting ones are not running";
}

class Shares : public ::testing::Test {
 protected:
  static void never(const std::string& why) { ADD_FAILURE() << "waits: " << why; }
  testing::TemporaryFolder folder;
};

TEST_F(Shares, AStepWaitsUntilThereIsRoomAndSaysWhy) {
  std::optional<MemoryShare> first(std::in_place, folder.path(), 6ull << 30, 8ull << 30, never);
  MemoryShare small(folder.path(), 1ull << 30, 8ull << 30, never);
  std::string why;
  std::atomic<bool> waits = false;
  std::thread frees([&] {
    while (!waits) ::usleep(1000);
    first.reset();
  });
  MemoryShare second(folder.path(), 4ull << 30, 8ull << 30, [&](const std::string& text) {
    why = text;
    waits = true;
  });
  frees.join();
  EXPECT_EQ(why, "needs 4.0 GiB of memory, running steps have 7.0 GiB of 8.0 GiB");
}

TEST_F(Shares, AKilledHoldersShareIsFree) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const MemoryShare share(folder.path(), 10, 10, [](const std::string&) {});
    static_cast<void>(::write(ready[1], "x", 1) == 1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::atomic<bool> waited = false;
  std::thread kills([&] {
    while (!waited) ::usleep(1000);
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
  });
  const MemoryShare share(folder.path(), 10, 10, [&](const std::string&) { waited = true; });
  kills.join();
  EXPECT_TRUE(waited);
  EXPECT_EQ(RealFileSystem().list(folder.path()).size(), 2u) << "ours, and the turn";
}

TEST_F(Shares, NobodyWaitsForTheTurnOfWhatCannotBeRead) {
  const FileLock full_disk = FileLock::acquire(folder / "12-00000000");
  const MemoryShare share(folder.path(), 10, 10, never);
}

TEST_F(Shares, WhoStopsWaitingLeavesNothing) {
  const MemoryShare all(folder.path(), 10, 10, never);
  EXPECT_THROW(MemoryShare(folder.path(), 10, 10,
                           [](const std::string&) { throw std::runtime_error("told to stop"); }),
               std::runtime_error);
  EXPECT_EQ(RealFileSystem().list(folder.path()).size(), 2u) << "the first one's, and the turn";
}

TEST_F(Shares, NeverMoreThanThereIsAtOnce) {
  {
    const MemoryShare one(folder.path(), 5, 10, never);
    const MemoryShare another(folder.path(), 5, 10, never);
  }
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> steps;
  for (int i = 0; i < 6; ++i)
    steps.emplace_back([&] {
      const MemoryShare share(folder.path(), 5, 10, [](const std::string&) {});
      const int now = ++running;
      for (int before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
      ::usleep(20'000);
      --running;
    });
  for (std::thread& step : steps) step.join();
  EXPECT_LE(most, 2);
  EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace kiln
