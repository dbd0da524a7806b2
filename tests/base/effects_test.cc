#include "factory/base/effects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <set>

#include "factory/base/durable_file.h"
#include "factory/base/file_handle.h"
#include "factory/os/process.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

TEST(FileHandle, ClosesWhatItOwnsOnce) {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    FileHandle taken;
    {
      FileHandle first(descriptor);
      taken = std::move(first);
    }
    EXPECT_NE(::fcntl(taken, F_GETFD), -1);
    errno = EEXIST;
  }
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
  EXPECT_EQ(FileHandle().close(), 0);
}

// A private folder that goes away with the test.
class Effects : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln-effects-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  CommandResult shell(const std::string& script, CommandLimits limits = {}) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    command.log = folder_ / "log";
    command.limits = limits;
    return RealCommandRunner().run(command);
  }

  std::string log() { return RealFileSystem().read(folder_ / "log").value_or("(no log)"); }

  fs::path folder_;
};

TEST_F(Effects, WriteMakesFoldersAndReplacesWholeFiles) {
  RealFileSystem files;
  files.write(folder_ / "a/b/c.json", "one");
  files.write(folder_ / "a/b/c.json", "two");
  EXPECT_EQ(files.read(folder_ / "a/b/c.json"), "two");
  EXPECT_EQ(files.list(folder_ / "a/b"), std::vector<std::string>{"c.json"}) << "no temporary file is left";
}

// A container that is started again has the process ids of the killed one, and its half-written files.
TEST_F(Effects, ATemporaryOfTheSameProcessIdIsInNobodysWay) {
  RealFileSystem files;
  for (int number = 0; number < 64; ++number)
    std::ofstream(folder_ / fmt::format(".file.{}.{}.tmp", ::getpid(), number)) << "half";
  files.write(folder_ / "file", "whole");
  EXPECT_EQ(files.read(folder_ / "file"), "whole");
  EXPECT_EQ(files.list(folder_).size(), 65u);
}

TEST_F(Effects, ANameOfTheLongestKindIsWritten) {
  RealFileSystem files;
  const std::string name(255, 'n');
  files.write(folder_ / name, "whole");
  EXPECT_EQ(files.read(folder_ / name), "whole");
}

TEST_F(Effects, TemporariesAreOfNoPredictableName) {
  std::set<std::string> names;
  for (int number = 0; number < 100; ++number) names.insert(unique_name());
  EXPECT_EQ(names.size(), 100u);
}

TEST_F(Effects, AbsentIsNotAnError) {
  RealFileSystem files;
  EXPECT_FALSE(files.read(folder_ / "absent").has_value());
  EXPECT_FALSE(files.read(folder_ / "absent/below").has_value());
  EXPECT_TRUE(files.list(folder_ / "absent").empty());
  EXPECT_NO_THROW(files.remove_all(folder_ / "absent"));
}

TEST_F(Effects, FailuresNameThePathAndTheReason) {
  RealFileSystem files;
  files.write(folder_ / "file", "x");
  try {
    files.write(folder_ / "file/below", "x");
    FAIL() << "wrote below a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.format().find((folder_ / "file").string()), std::string::npos) << error.format();
  }
}

TEST_F(Effects, AFullDiskIsOneClearLineAndLeavesTheOldFile) {
  if (::access("/dev/full", W_OK) != 0) FAIL() << "/dev/full is missing";
  fs::path small = folder_ / "small";
  fs::create_directories(small);
  ASSERT_EQ(std::system(("mount -t tmpfs -o size=16k tmpfs " + small.string()).c_str()), 0)
      << "the tests run as root";
  RealFileSystem files;
  files.write(small / "index", "old");
  try {
    files.write(small / "index", std::string(1 << 20, 'x'));
    ADD_FAILURE() << "wrote a MiB into 16 KiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.format().find("No space left on device"), std::string::npos);
    EXPECT_NE(error.format().find("free some space"), std::string::npos);
  }
  EXPECT_EQ(files.read(small / "index"), "old");
  EXPECT_EQ(files.list(small), std::vector<std::string>{"index"});
  EXPECT_EQ(std::system(("umount " + small.string()).c_str()), 0);
}

TEST_F(Effects, RunKeepsTheLogAndTheStatus) {
  CommandResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.end, CommandEnd::exited);
  EXPECT_EQ(result.status, 3);
  EXPECT_NE(log().find("out\n"), std::string::npos);
  EXPECT_NE(log().find("err\n"), std::string::npos);
  EXPECT_NE(result.tail.find("err"), std::string::npos);
}

TEST_F(Effects, RunCapturesStdoutApartFromTheLog) {
  Command command;
  command.argv = {"/bin/sh", "-c", "echo answer; echo noise >&2"};
  command.log = folder_ / "log";
  command.capture_stdout = true;
  std::vector<std::string> lines;
  command.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  CommandResult result = RealCommandRunner().run(command);
  EXPECT_EQ(result.output, "answer\n");
  EXPECT_EQ(log(), "noise\n");
  EXPECT_EQ(lines, std::vector<std::string>{"answer"});
}

TEST_F(Effects, HiddenWordsAreInNothingThatIsKept) {
  Command command;
  const fs::path read = folder_ / "read";  // the first half of the word
  command.argv = {"/bin/sh", "-c",
                  "printf 'token=s3cr3t\\nlast s3c'; until [ -e " + read.string() +
                      " ]; do sleep 0.01; done; printf r3t; echo 's3cr3t!' >&2; exit 1"};
  command.log = folder_ / "log";
  command.give_up = [&](std::string_view tail) {
    if (tail.find("last") != tail.npos) RealFileSystem().write(read, "");
    return false;
  };
  command.hidden = {"s3cr3t"};
  std::vector<std::string> lines;
  command.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  CommandResult result = RealCommandRunner().run(command);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(lines, (std::vector<std::string>{"token=***", "last ***"}));
  for (const std::string& kept : {log(), result.tail, result.output})
    EXPECT_EQ(kept.find("s3cr"), std::string::npos) << kept;
  EXPECT_NE(log().find("***!\n"), std::string::npos) << log();
}

// With our input and output, whose other ends are files here.
TEST_F(Effects, AnInteractiveCommandHasOurInputAndOutput) {
  std::ofstream(folder_ / "in") << "echo \"heard $0\"; exit 7\n";
  const int before_in = ::dup(0);
  const int before_out = ::dup(1);
  const int in = ::open((folder_ / "in").c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  ::dup2(in, 0);
  ::dup2(out, 1);
  Command command;
  command.argv = {"/bin/sh"};
  command.interactive = true;
  CommandResult result = RealCommandRunner().run(command);
  ::dup2(before_in, 0);
  ::dup2(before_out, 1);
  for (int fd : {before_in, before_out, in, out}) ::close(fd);
  EXPECT_EQ(result.end, CommandEnd::exited);
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(RealFileSystem().read(folder_ / "out"), "heard /bin/sh\n");
  EXPECT_EQ(result.output, "");
}

TEST_F(Effects, NothingIsInherited) {
  ::setenv("KILN_TEST_SECRET", "1", 1);
  int leak = ::open("/etc/passwd", O_RDONLY);
  CommandResult result = shell("echo secret=${KILN_TEST_SECRET:-none}; ls /proc/self/fd | wc -l");
  ::close(leak);
  EXPECT_TRUE(result.ok());
  EXPECT_NE(log().find("secret=none"), std::string::npos);
  EXPECT_NE(log().find("\n4\n"), std::string::npos) << "0, 1, 2 and ls's own: " << log();
}

TEST_F(Effects, TheChildHasTheMaskThatTheCommandSays) {
  const FileMask ours(077);
  Command command;
  command.argv = {"/bin/sh", "-c", "umask"};
  EXPECT_EQ(RealCommandRunner().run(command).output, "0077\n");
  command.file_mask = kImageMask;
  EXPECT_EQ(RealCommandRunner().run(command).output, "0022\n");
}

// A child that says "up" and stays: only the limit ends it. The clock stands still until it is up, and then
// jumps by `jump` seconds.
struct Stayer {
  CommandResult run(const std::string& before, CommandLimits limits, int jump) {
    Command command;
    command.argv = {"/bin/sh", "-c", before + "echo up; exec sleep infinity"};
    command.limits = limits;
    command.on_line = [this, jump](std::string_view) { clock.now += jump; };
    return run_process(command, clock);
  }
  testing::FakeClock clock;
};

CommandLimits wall_limit(int seconds) { return {.wall = std::chrono::seconds(seconds)}; }

TEST_F(Effects, WallLimitKillsTheWholeTree) {
  const std::string fifo = (folder_ / "held").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int held = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(held, 0);
  // The grandchild is the only one to keep the pipe open, and keeps none of ours.
  CommandResult result =
      Stayer().run("exec 3>" + fifo + "; sleep infinity >&3 2>&3 & exec 3>&-; ", wall_limit(10), 11);
  EXPECT_EQ(result.end, CommandEnd::wall_limit);
  EXPECT_EQ(result.seconds, 11);
  // Blocks until nobody holds the other end: for ever, were the grandchild alive.
  ASSERT_EQ(::fcntl(held, F_SETFL, 0), 0);
  char byte = 0;
  EXPECT_EQ(::read(held, &byte, 1), 0);
  ::close(held);
}

// Once the child is up, each look at it takes five seconds.
struct RunningClock final : Clock {
  std::int64_t unix_seconds() const override { return 0; }
  double monotonic_seconds() const override { return runs ? now += 5 : now; }
  mutable double now = 0;
  bool runs = false;
};

TEST_F(Effects, WhatIgnoresTheRequestIsKilledAfterTheGraceTime) {
  RunningClock clock;
  Command command;
  command.argv = {"/bin/sh", "-c", "trap '' TERM; echo up; exec sleep infinity"};
  command.limits = wall_limit(1);
  command.on_line = [&](std::string_view) { clock.runs = true; };
  CommandResult result = run_process(command, clock);
  EXPECT_EQ(result.end, CommandEnd::wall_limit);
  EXPECT_EQ(result.status, SIGKILL);
}

TEST_F(Effects, SilenceIsCountedFromTheLastWord) {
  CommandLimits limits;
  limits.silence = std::chrono::seconds(10);
  EXPECT_EQ(Stayer().run("", limits, 11).end, CommandEnd::silence_limit);
}

// As after `scontrol suspend` and `resume`: an hour between two looks, in which neither ran.
TEST_F(Effects, NoLimitCountsTheTimeInWhichWeWereStopped) {
  testing::FakeClock clock;
  Command command;
  command.argv = {"/bin/sh", "-c", "echo up; sleep 0.3; echo on"};
  command.limits = {.wall = std::chrono::seconds(30), .silence = std::chrono::seconds(30)};
  command.on_line = [&](std::string_view line) { clock.now += line == "up" ? 3600 : 0; };
  const CommandResult result = run_process(command, clock);
  EXPECT_EQ(result.end, CommandEnd::exited);
  EXPECT_EQ(result.seconds, 3600);
}

// Not even where the command was near its limit before, and it holds from then on.
TEST_F(Effects, LimitsHoldAfterAStandstill) {
  struct Suspended final : Clock {
    std::int64_t unix_seconds() const override { return 0; }
    double monotonic_seconds() const override {
      if (runs) now += ++looks == 3 ? 1000 : 9;
      return now;
    }
    mutable double now = 0;
    mutable int looks = 0;
    bool runs = false;
  } clock;
  Command command;
  command.argv = {"/bin/sh", "-c", "echo up; exec sleep infinity"};
  command.limits = wall_limit(50);
  command.on_line = [&](std::string_view) { clock.runs = true; };
  const CommandResult result = run_process(command, clock);
  EXPECT_EQ(result.end, CommandEnd::wall_limit);
  EXPECT_GT(result.seconds, 1050);
}

TEST_F(Effects, AFloodOfOutputIsStopped) {
  CommandLimits flood;
  flood.log_bytes = 100'000;
  EXPECT_EQ(shell("yes", flood).end, CommandEnd::log_limit);
  EXPECT_LT(fs::file_size(folder_ / "log"), 64u << 20);
}

TEST_F(Effects, WhatIsGivenUpEndsAsAtALimit) {
  Command command;
  command.argv = {"/bin/sh", "-c", "echo stuck >&2; sleep 1000"};
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  int asked = 0;
  command.give_up = [&](std::string_view tail) { return ++asked > 2 && tail == "stuck\n"; };
  CommandResult result = RealCommandRunner().run(command);
  EXPECT_EQ(result.end, CommandEnd::given_up);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(result.ok());
}

TEST_F(Effects, SignalsAreReported) {
  CommandResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.end, CommandEnd::signalled);
  EXPECT_EQ(result.status, 11);
}

TEST_F(Effects, AMissingProgramIsToolMissing) {
  Command command;
  command.argv = {"kiln-no-such-program"};
  try {
    RealCommandRunner().run(command);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::tool_missing);
    EXPECT_NE(error.message().find("kiln-no-such-program"), std::string::npos);
  }
}

TEST(Clock, TimesAreRfc3339) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(1763632800), "2025-11-20T10:00:00Z");
  EXPECT_EQ(rfc3339(253402300799), "9999-12-31T23:59:59Z");
}

}  // namespace
}  // namespace kiln
