#include "factory/run/cell_logs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "factory/base/durable_file.h"
#include "factory/state/access.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// An image of two steps and a test. Logs are a minute apart.
class CellLogs : public ::testing::Test {
 protected:
  CellLogs() {
    image.repository = "hello";
    image.tag = "2.1-distro";
    image.key = std::string(64, 'e');
    image.stages.emplace_back();
    for (char key : {'a', 'b'}) image.stages[0].steps.push_back(step(key, std::string("step ") + key));
    image.tests = {step('c', "test c")};
  }
  static Step step(char key, const std::string& title) {
    Step step;
    step.key = std::string(64, key);
    step.title = title;
    return step;
  }
  void wrote(char key, int minute) {
    const fs::path file = folder.write("logs/" + std::string(64, key) + ".log", "said");
    const timespec times[2] = {{60 * minute, 0}, {60 * minute, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  std::vector<CellLog> logs() const { return cell_logs(image, state, files); }

  testing::TemporaryFolder folder;
  StatePaths state{folder.path()};
  RealFileSystem files;
  ImageSpec image;
};

TEST_F(CellLogs, AreListedInOrderWithTheirEnd) {
  wrote('a', 1);
  wrote('b', 2);
  wrote('c', 3);
  files.write(state.step(std::string(64, 'a')), "{}");
  files.write(state.test(std::string(64, 'c')), "{}");
  std::vector<CellLog> found = logs();
  ASSERT_EQ(found.size(), 3u) << "the image has none";
  EXPECT_EQ(found[0].title, "step a");
  EXPECT_EQ(name_of(found[0].state), "done");
  EXPECT_EQ(name_of(found[1].state), "unfinished");
  EXPECT_EQ(name_of(found[2].state), "done");
  EXPECT_EQ(found[1].written, 120);
  EXPECT_EQ(found[1].file, state.log(std::string(64, 'b')));
}

TEST_F(CellLogs, TheLastIsTheYoungestUnlessOneFailed) {
  wrote('a', 9);
  wrote('b', 2);
  wrote('c', 3);
  EXPECT_EQ(last_log(logs()).title, "step a") << "it was run again";
  wrote('b', 9);
  EXPECT_EQ(last_log(logs()).title, "step b") << "at the same time, but later in the order";
  files.write(state.failure(std::string(64, 'c')), "{}");
  EXPECT_EQ(last_log(logs()).title, "test c");
  files.write(state.failure(std::string(64, 'a')), "{}");
  EXPECT_EQ(last_log(logs()).title, "step a") << "the first that failed";
}

TEST(LogFolder, IsOneFileName) {
  EXPECT_EQ(log_folder_name("hello-2.1-x86_64+x"), "hello-2.1-x86_64+x");
  EXPECT_EQ(log_folder_name("a/../b"), "a-..-b");
  EXPECT_EQ(log_folder_name(".."), "_.");
  EXPECT_EQ(log_folder_name("a\nb"), "a-b");
  const std::string longest(300, 'x');
  EXPECT_EQ(log_folder_name(longest).size(), 213u);
  EXPECT_NE(log_folder_name(longest), log_folder_name(longest + "y"));
}

// Who may read the folder may read what is in it, whatever umask a later run has.
TEST(FollowPermissions, OfTheFolder) {
  testing::TemporaryFolder folder;
  for (auto [mode, file] : {std::pair(0700u, 0600u), {0755u, 0644u}, {0750u, 0640u}, {0775u, 0644u}}) {
    for (unsigned mask : {077u, 022u, 000u}) {
      const FileMask ours(mask);
      const fs::path root = folder / "state";
      fs::create_directories(root);
      ASSERT_EQ(::chmod(root.c_str(), mode), 0);
      follow_permissions(StatePaths(root));
      RealFileSystem().write(root / "a/b", "text");
      EXPECT_EQ(static_cast<unsigned>(fs::status(root / "a/b").permissions()), file) << mode;
      EXPECT_EQ(static_cast<unsigned>(fs::status(root / "a").permissions()), mode);
      fs::remove_all(root);
    }
  }
  const FileMask ours(077);
  follow_permissions(StatePaths(folder / "new/state"));
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder / "new/state").permissions()), 0700u);
}

}  // namespace
}  // namespace kiln
