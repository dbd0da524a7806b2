// The memory of commands: what is measured, and who is ended for it.
#include "factory/os/process_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "factory/os/process.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// A program that has `mib` MiB and prints a line. With each line it waits until kiln has measured its memory.
class MemoryOfCommand : public ::testing::Test {
 protected:
  Command program_with(int mib, const std::string& afterwards = "true") const {
    const std::string take = "import os, time; x = bytearray(" + std::to_string(mib) +
                             " << 20); print('has it', flush=True)\nwhile not os.path.exists('" +
                             measured(1) + "'): time.sleep(0.01)";
    Command command;
    command.argv = {"/bin/sh", "-c", "python3 -c \"$0\"; status=$?; " + afterwards + "; exit $status", take};
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    command.own_processes = true;
    command.limits.wall = std::chrono::minutes(1);
    return command;
  }
  std::string measured(int lines) const { return folder_ / ("measured." + std::to_string(lines)); }

  // A line makes the next look due. run_process() asks whether to give up after that look.
  CommandResult run(Command command) {
    for (int line : {1, 2}) fs::remove(measured(line));
    LeapingClock clock;
    command.on_line = [&](std::string_view) { ++clock.leaps; };
    command.give_up = [&](std::string_view) {
      if (clock.leaps > 0) RealFileSystem().write(measured(clock.leaps), "");
      return false;
    };
    return run_process(command, clock);
  }

  testing::TemporaryFolder folder_;

 private:
  struct LeapingClock final : Clock {
    std::int64_t unix_seconds() const override { return real.unix_seconds(); }
    double monotonic_seconds() const override { return real.monotonic_seconds() + 1000 * leaps; }
    RealClock real;
    int leaps = 0;
  };
};

TEST_F(MemoryOfCommand, IsThePeakOfAllThatItStarted) {
  const CommandResult result = run(program_with(200));
  ASSERT_TRUE(result.ok()) << result.tail;
  EXPECT_NE(result.memory.source, MemorySource::none);
  EXPECT_GT(result.memory.peak, 200 * kMiB);
  EXPECT_LT(result.memory.peak, 300 * kMiB);
}

TEST_F(MemoryOfCommand, FilesThatTheSystemKeepsAreNotOfIt) {
  if (!find_cgroup_path()) GTEST_SKIP() << "no control groups here";
  const CommandResult result =
      run(program_with(20, "dd if=/dev/zero of=" + (folder_ / "file").string() +
                               " bs=1M count=200 2>/dev/null; echo written; until [ -e " + measured(2) +
                               " ]; do sleep 0.01; done"));
  ASSERT_TRUE(result.ok()) << result.tail;
  EXPECT_LT(result.memory.peak, 100 * kMiB);
  EXPECT_GT(result.memory.with_files, 100 * kMiB);  // a full machine takes some of them back
}

TEST_F(MemoryOfCommand, OverItsLimitItIsEndedForCertain) {
  Command command = program_with(200);
  command.limits.memory = 100 * kMiB;
  const CommandResult result = run(command);
  EXPECT_EQ(result.end, CommandEnd::out_of_memory) << result.tail;
  EXPECT_FALSE(result.ok());
  command.limits.memory = 400 * kMiB;
  EXPECT_TRUE(run(command).ok());
}

TEST_F(MemoryOfCommand, AScriptThatGoesOnWithoutAKilledProgramHasFailed) {
  Command command = program_with(200);
  command.argv[2] = "python3 -c \"$0\" || true";
  command.limits.memory = 100 * kMiB;
  EXPECT_EQ(run(command).end, CommandEnd::out_of_memory);
}

TEST_F(MemoryOfCommand, AKillOfAnotherKindIsNone) {
  Command command = program_with(20);
  command.limits.memory = 400 * kMiB;
  command.argv[2] = "kill -9 $$";
  const CommandResult killed = run(command);
  EXPECT_EQ(killed.end, CommandEnd::signalled);
  command.argv[2] = "exit 137";
  EXPECT_EQ(run(command).end, CommandEnd::exited);
}

// A child with its own: a program of which each process writes a byte when it has its memory.
class WatchedByProcesses : public ::testing::Test {
 protected:
  void begin(const std::string& program, int processes) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::setpgid(0, 0);
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execlp("python3", "python3", "-c", program.c_str(), nullptr);
      ::_exit(127);
    }
    ::setpgid(child_, child_);
    ::close(ends[1]);
    char byte = 0;
    for (int ready = 0; ready < processes; ++ready) EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
  }
  void TearDown() override {
    ::kill(-child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  pid_t child_ = -1;
};

TEST_F(WatchedByProcesses, TheTreeIsSummedAndOverTheLimitIsSeen) {
  begin(
      R"py(import os, subprocess, time
inner = "import os, time; x = bytearray(150 << 20); os.write(1, b'.'); time.sleep(60)"
subprocess.Popen(['python3', '-c', inner])
x = bytearray(100 << 20)
os.write(1, b'.')
time.sleep(60))py",
      2);
  const std::uint64_t all = memory_of_tree({child_, true});
  EXPECT_GT(all, 250 * kMiB);
  EXPECT_LT(all, 330 * kMiB);
  const std::uint64_t below = memory_of_tree({child_, false});
  EXPECT_GT(below, 150 * kMiB);
  EXPECT_LT(below, 200 * kMiB);
  MemoryWatch enough(400 * kMiB, false);
  EXPECT_FALSE(enough.look({child_, true}, 1));
  EXPECT_EQ(enough.use().source, MemorySource::processes);
  EXPECT_GT(enough.use().peak, 250 * kMiB);
  EXPECT_EQ(enough.entrance(), -1);
  MemoryWatch little(200 * kMiB, false);
  EXPECT_TRUE(little.look({child_, true}, 1));
}

// Data loaders of PyTorch: each has its parent's pages, and nobody pays for them twice.
TEST_F(WatchedByProcesses, ForkedProcessesAreNotEndedForPagesThatTheyShare) {
  begin(
      "import os, time\nx = bytearray(100 << 20)\nfor i in range(4):\n  if os.fork() == 0: break\n"
      "os.write(1, b'.')\ntime.sleep(60)",
      5);
  EXPECT_GT(memory_of_tree({child_, true}), 400 * kMiB) << "the quick sum counts them in each";
  EXPECT_LT(exact_memory_of_tree({child_, true}), 200 * kMiB);
  MemoryWatch watch(250 * kMiB, false);
  EXPECT_FALSE(watch.look({child_, true}, 1));
  EXPECT_LT(watch.use().peak, 200 * kMiB);
}

TEST(MemoryWatch, LooksTenTimesASecondAtMost) {
  MemoryWatch watch(1, false);
  EXPECT_TRUE(watch.look({::getpid(), true}, 10));
  EXPECT_FALSE(watch.look({::getpid(), true}, 10.05));
  EXPECT_TRUE(watch.look({::getpid(), true}, 1000));
}

}  // namespace
}  // namespace kiln
