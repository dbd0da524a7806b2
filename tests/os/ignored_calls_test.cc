#include "factory/os/ignored_calls.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "factory/os/process.h"

namespace kiln {
namespace {

// In a child: what fsync(2) and its like say of a descriptor that there is not, and who else notices.
int answers_of_child(bool filtered) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (filtered && !stop_syncing()) ::_exit(99);
    const bool all = ::fsync(-1) == 0 && ::fdatasync(-1) == 0 && ::syncfs(-1) == 0;
    const bool none = ::fsync(-1) != 0 && ::fdatasync(-1) != 0 && ::syncfs(-1) != 0;
    char byte = 0;
    const bool others = ::read(-1, &byte, 1) != 0 && errno == EBADF && ::close(-1) != 0 && ::getppid() > 0;
    ::_exit(others ? (all ? 1 : none ? 2 : 3) : 4);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(StopSyncing, MakesSyncsSucceedAtOnceAndNothingElse) {
  EXPECT_EQ(answers_of_child(false), 2);
  const int answers = answers_of_child(true);
  if (answers == 99) GTEST_SKIP() << "the kernel grants no filter here";
  EXPECT_EQ(answers, 1);
  EXPECT_NE(::fsync(-1), 0) << "ours is as it was";
}

TEST(StopSyncing, ReachesWhatACommandStarts) {
  if (answers_of_child(true) == 99) GTEST_SKIP() << "the kernel grants no filter here";
  for (const bool own_processes : {false, true}) {
    Command command;
    command.argv = {"/bin/sh", "-c", "sync --data /dev/null; echo $?"};  // which is nothing to be synced
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    command.capture_stdout = true;
    command.own_processes = own_processes;
    EXPECT_EQ(RealCommandRunner().run(command).output, "1\n");
    command.unsynced = true;
    EXPECT_EQ(RealCommandRunner().run(command).output, "0\n");
  }
}

TEST(StopSettingGroups, SucceedsWithoutSettingThem) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!stop_setting_groups()) ::_exit(99);
    const gid_t group = 4711;
    const int before = ::getgroups(0, nullptr);
    const bool succeeds = ::setgroups(1, &group) == 0 && ::setgroups(0, nullptr) == 0;
    ::_exit(succeeds && ::getgroups(0, nullptr) == before && ::fsync(-1) != 0 ? 1 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 99) GTEST_SKIP() << "the kernel grants no filter here";
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace kiln
