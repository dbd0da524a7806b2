#include "factory/os/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>
#include <vector>

#include "factory/base/effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(PassingLock, TakesItsFileAlongHoweverItsWorkEnds) {
  testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "work.lock";
  try {
    const PassingLock lock(file);
    EXPECT_FALSE(FileLock::try_acquire(file)) << "it is held";
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  folder.write("work.lock", "");  // left by a process that was killed
  { const PassingLock lock(file); }
  EXPECT_FALSE(std::filesystem::exists(file));
}

// Each holder removes the file that others wait for: none of them may get in beside another.
TEST(PassingLock, OneWorksAtATimeWhileFilesComeAndGo) {
  testing::TemporaryFolder folder;
  std::atomic<int> working = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        const PassingLock lock(folder / "work.lock");
        most = std::max<int>(most, ++working);
        std::this_thread::yield();
        --working;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "work.lock"));
}

TEST(FileLock, IsSharedByManyOrHeldByOne) {
  testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "lock";
  {
    const auto one = FileLock::try_acquire(file, LockKind::shared);
    const auto two = FileLock::try_acquire(file, LockKind::shared);
    EXPECT_TRUE(one && two);
    EXPECT_FALSE(FileLock::try_acquire(file));
    EXPECT_FALSE(FileLock::of_the_dead(file)) << "both live";
  }
  const auto alone = FileLock::try_acquire(file);
  EXPECT_TRUE(alone);
  EXPECT_FALSE(FileLock::try_acquire(file, LockKind::shared));
}

std::string refusal(const std::filesystem::path& file) {
  try {
    const FileLock lock = FileLock::acquire(file);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    return error.message();
  }
}

TEST(FileLock, WritesThroughNoLink) {
  testing::TemporaryFolder folder;
  folder.write("victim", "precious");
  std::filesystem::create_symlink(folder / "victim", folder / "lock");
  std::filesystem::create_symlink(folder / "absent", folder / "dangling");
  EXPECT_NE(refusal(folder / "lock").find("is a symbolic link"), std::string::npos);
  EXPECT_NE(refusal(folder / "dangling").find("is a symbolic link"), std::string::npos);
  EXPECT_EQ(RealFileSystem().read(folder / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder / "absent"));
}

TEST(FileLock, IsARegularFile) {
  testing::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder / "pipe").find("is not a regular file"), std::string::npos);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_NE(refusal(folder / "folder").find("cannot open the lock"), std::string::npos);
}

}  // namespace
}  // namespace kiln
