#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <vector>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class LeftBehind : public ::testing::Test {
 protected:
  // A process that makes one of each, and is killed.
  void make_and_die() const {
    const pid_t child = ::fork();
    if (child == 0) {
      LockedTemporary file = make_temporary_file(folder.path(), "f-");
      LockedTemporary inside = make_temporary_folder(folder.path(), "d-");
      bool wrote = ::write(file.descriptor, "half", 4) == 4 && fs::create_directories(inside.path / "a/b");
      if (wrote) ::kill(::getpid(), SIGKILL);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
  }

  testing::TemporaryFolder folder;
  const std::string here = host_name();
};

TEST_F(LeftBehind, WhatTheDeadLeftGoesWithTheNextOfItsKind) {
  make_and_die();
  EXPECT_EQ(count(), 2u);
  LockedTemporary file = make_temporary_file(folder.path(), "f-");
  EXPECT_EQ(count(), 2u) << "the dead folder, and ours";
  LockedTemporary ours = make_temporary_folder(folder.path(), "d-");
  EXPECT_EQ(count(), 2u);
  EXPECT_TRUE(fs::is_regular_file(file.path));
  EXPECT_TRUE(fs::is_directory(ours.path));
  EXPECT_EQ(fs::status(ours.path).permissions(), fs::perms::owner_all);
  ::close(file.descriptor);
  ::close(ours.descriptor);
}

TEST_F(LeftBehind, WhatTheLivingHoldStays) {
  LockedTemporary first = make_temporary_file(folder.path(), "f-");
  LockedTemporary second = make_temporary_file(folder.path(), "f-");
  EXPECT_TRUE(fs::exists(first.path));
  ::close(first.descriptor);
  LockedTemporary third = make_temporary_file(folder.path(), "f-");
  EXPECT_FALSE(fs::exists(first.path));
  EXPECT_TRUE(fs::exists(second.path));
  ::close(second.descriptor);
  ::close(third.descriptor);
}

TEST_F(LeftBehind, WhatOthersMadeStays) {
  const std::vector<std::string> names = {"f-notes", "f-" + here + "-notes.txt", "f-" + here + "-ab_def",
                                          "f-abcdef", "g-" + here + "-abcdef"};
  for (const std::string& name : names) folder.write(name, "mine");
  fs::create_directory(folder / ("f-" + here + "-folder"));
  folder.write("elsewhere", "mine");
  fs::create_symlink(folder / "elsewhere", folder / ("f-" + here + "-linked"));
  const std::size_t before = count();
  ::close(make_temporary_file(folder.path(), "f-").descriptor);
  EXPECT_EQ(count(), before + 1);
}

// On a shared file system flock may not reach other machines.
TEST_F(LeftBehind, OtherMachinesHaveAWeek) {
  const fs::path young = folder.write("f-other-machine-abcdef", "");
  const fs::path old = folder.write("f-other-machine-ghijkl", "");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(8 * 24));
  ::close(make_temporary_file(folder.path(), "f-").descriptor);
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(LeftBehind, AFolderThatIsNotThereIsSaid) {
  LockedTemporary none = make_temporary_file(folder / "absent", "f-");
  EXPECT_EQ(none.descriptor, -1);
  EXPECT_EQ(errno, ENOENT);
}

// Makers and sweepers of one folder, side by side: nobody loses what it holds.
TEST_F(LeftBehind, SweepersAndMakersDoNotHurtEachOther) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    bool good = true;
    for (int round = 0; round < 200; ++round) {
      LockedTemporary made = make_temporary_file(folder.path(), "f-");
      good = good && made.descriptor >= 0 && fs::exists(made.path);
      if (round % 2 == 0) fs::remove(made.path);
      ::close(made.descriptor);
    }
    ::_exit(good ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace kiln
