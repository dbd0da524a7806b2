#include "factory/os/file_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace kiln
