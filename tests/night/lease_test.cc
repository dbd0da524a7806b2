#include "factory/night/lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

class LeaseTest : public ::testing::Test {
 protected:
  // As another machine's night would have left it, that long ago.
  void write_foreign(int number, std::chrono::seconds ago) {
    const fs::path file =
        root_.write(std::to_string(number),
                    Json{{"holder", "a night on far"}, {"machine", "far"}, {"released", false}}.dump());
    const timespec then{std::time(nullptr) - ago.count(), 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  testing::TemporaryFolder root_;
};

TEST_F(LeaseTest, OneAtATime) {
  auto first = Lease::try_acquire(root_.path(), "first", 60s);
  ASSERT_TRUE(first);
  EXPECT_FALSE(Lease::try_acquire(root_.path(), "second", 60s));
  EXPECT_EQ(Lease::holder(root_.path())->holder, "first");
  first->need();
  first.reset();
  EXPECT_FALSE(Lease::holder(root_.path()));
  EXPECT_TRUE(Lease::try_acquire(root_.path(), "second", 60s));
}

TEST_F(LeaseTest, WhatTheKilledLeftAsideGoes) {
  const fs::path own = root_.write(".new-" + host_name() + "-dead", "");
  const fs::path held = root_.write(".new-" + host_name() + "-alive", "");
  const fs::path foreign = root_.write(".new-far-1", "");
  const fs::path old = root_.write(".now-far-1", "");
  const timespec then[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), then, 0), 0);
  const FileLock lock = FileLock::acquire(held);
  ASSERT_TRUE(Lease::try_acquire(root_.path(), "first", 60s));
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(fs::exists(held));
  EXPECT_TRUE(fs::exists(foreign)) << "its machine was heard of";
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(LeaseTest, AKilledHolderOfThisMachineIsDeadAtOnce) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto lease = Lease::try_acquire(root_.path(), "child", 3600s);
    ::_exit(::write(ready[1], lease ? "y" : "n", 1) == 1 && ::pause() ? 1 : 0);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  EXPECT_FALSE(Lease::try_acquire(root_.path(), "parent", 3600s));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(Lease::try_acquire(root_.path(), "parent", 3600s));
}

TEST_F(LeaseTest, AnotherMachinesIsDeadWhenItIsSilent) {
  write_foreign(4, 50s);
  EXPECT_FALSE(Lease::try_acquire(root_.path(), "here", 60s));
  EXPECT_EQ(Lease::holder(root_.path())->holder, "a night on far");
  EXPECT_GE(Lease::holder(root_.path())->silence, 49s);
  write_foreign(4, 70s);
  auto lease = Lease::try_acquire(root_.path(), "here", 60s);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(fs::exists(root_ / "5"));
  EXPECT_FALSE(fs::exists(root_ / "4"));
}

TEST_F(LeaseTest, WhoWasThoughtDeadFindsOut) {
  auto lease = Lease::try_acquire(root_.path(), "sleeper", 60s);
  ASSERT_TRUE(lease);
  write_foreign(2, 0s);
  try {
    lease->need();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::locked);
    EXPECT_NE(std::string(error.what()).find("a night on far"), std::string::npos) << error.what();
  }
}

TEST_F(LeaseTest, NumbersAreNeverUsedTwice) {
  for (int i = 1; i <= 3; ++i) {
    auto lease = Lease::try_acquire(root_.path(), "one", 60s);
    ASSERT_TRUE(lease);
    EXPECT_TRUE(fs::exists(root_ / std::to_string(i)));
  }
}

TEST_F(LeaseTest, WhatCannotBeReadIsSomebodys) {
  root_.write("1", "");
  EXPECT_FALSE(Lease::try_acquire(root_.path(), "here", 60s));
  root_.write("1", "\xff{{{");
  EXPECT_FALSE(Lease::try_acquire(root_.path(), "here", 60s));
}

TEST_F(LeaseTest, GivesSignsOfLife) {
  auto lease = Lease::try_acquire(root_.path(), "here", 5s);
  ASSERT_TRUE(lease);
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(::stat((root_ / "1").c_str(), &before), 0);
  for (int i = 0; i < 600 && after.st_mtim.tv_sec <= before.st_mtim.tv_sec; ++i) {
    std::this_thread::sleep_for(100ms);
    ASSERT_EQ(::stat((root_ / "1").c_str(), &after), 0);
  }
  EXPECT_GT(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
}

// Eight threads of one process hold locks of their own, as flock is of the open file.
TEST_F(LeaseTest, NeverTwoOfManyWhoTryAtOnce) {
  std::atomic<int> holders{0};
  std::atomic<int> most{0};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 40; ++round) {
        auto lease = Lease::try_acquire(root_.path(), "one", 60s);
        if (!lease) continue;
        const int now = ++holders;
        if (now > most) most = now;
        ++taken;
        std::this_thread::sleep_for(1ms);
        --holders;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(taken, 1);
}

}  // namespace
}  // namespace kiln
