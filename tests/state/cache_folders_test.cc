#include "factory/state/cache_folders.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

class CacheFoldersTest : public ::testing::Test {
 protected:
  // A use that is over, of a folder with `bytes`, `hours` ago.
  void keep(const std::string& id, std::size_t bytes, int hours) {
    const CacheUse use = folders.use("ccache", id);
    files.write_output(use.folder() / "object", std::string(bytes, 'x'));
    ages[id] = hours;
  }
  void set_ages() {
    for (const auto& [id, hours] : ages)
      fs::last_write_time(root / "ccache" / (id + ".uses"),
                          fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  bool is_there(const std::string& id) const { return fs::exists(root / "ccache" / id / "object"); }

  testing::TemporaryFolder folder;
  fs::path root = folder / "caches";
  RealFileSystem files;
  CacheFolders folders{root, files};
  std::map<std::string, int> ages;
};

TEST_F(CacheFoldersTest, AFolderIsFoundAgain) {
  keep("a", 10, 1);
  const CacheUse use = folders.use("ccache", "a");
  EXPECT_EQ(use.folder(), root / "ccache/a");
  EXPECT_EQ(files.read(use.folder() / "object"), "xxxxxxxxxx");
  const CacheUse beside = folders.use("ccache", "a");
  EXPECT_EQ(beside.folder(), use.folder()) << "steps share it";
  EXPECT_EQ(files.list(root / "ccache/a.uses").size(), 2u);
}

TEST_F(CacheFoldersTest, ThoseThatWereUsedLongestAgoGoFirst) {
  keep("new", 200'000, 1);
  keep("old", 200'000, 3);
  keep("middle", 200'000, 2);
  set_ages();
  folders.shrink(500'000);
  EXPECT_FALSE(is_there("old"));
  EXPECT_TRUE(is_there("middle"));
  EXPECT_TRUE(is_there("new"));
  folders.shrink(500'000);
  EXPECT_TRUE(is_there("middle")) << "they fit";
  folders.shrink(0);
  EXPECT_EQ(files.list(root / "ccache"), std::vector<std::string>{});
  EXPECT_EQ(files.list(root), (std::vector<std::string>{"ccache", "lock"})) << "nothing is left aside";
}

TEST_F(CacheFoldersTest, WhatIsUsedStays) {
  keep("old", 200'000, 3);
  keep("new", 200'000, 1);
  set_ages();
  {
    const CacheUse use = folders.use("ccache", "old");
    ages = {{"old", 3}};
    set_ages();
    folders.shrink(0);
    EXPECT_TRUE(is_there("old"));
    EXPECT_FALSE(is_there("new"));
  }
  folders.shrink(0);
  EXPECT_FALSE(is_there("old"));
}

// A killed step leaves its file, which nobody locks.
TEST_F(CacheFoldersTest, TheDeadUseNothing) {
  keep("a", 200'000, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    const CacheUse use = folders.use("ccache", "a");
    ::_exit(0);  // as SIGKILL: no destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(files.list(root / "ccache/a.uses").size(), 1u);
  folders.shrink(0);
  EXPECT_FALSE(is_there("a"));
}

TEST_F(CacheFoldersTest, WhatAKilledOneWasRemovingGoesWithTheNext) {
  keep("a", 10, 1);
  files.write(root / ".1-dead.tmp/object", "half");
  folders.shrink(1 << 20);
  EXPECT_TRUE(is_there("a"));
  EXPECT_FALSE(files.exists(root / ".1-dead.tmp"));
}

TEST_F(CacheFoldersTest, ADamagedOneGoesWhoeverUsesIt) {
  keep("a", 10, 1);
  const CacheUse use = folders.use("ccache", "a");
  folders.drop("ccache", "a");
  EXPECT_FALSE(is_there("a"));
  folders.drop("ccache", "never");
  const CacheUse next = folders.use("ccache", "a");
  EXPECT_EQ(files.list(next.folder()), std::vector<std::string>{});
}

TEST_F(CacheFoldersTest, AFolderThatCannotBeWrittenToIsNone) {
  files.write(root / "ccache", "a file where the folder should be");
  EXPECT_THROW(folders.use("ccache", "a"), std::exception);
}

}  // namespace
}  // namespace kiln
