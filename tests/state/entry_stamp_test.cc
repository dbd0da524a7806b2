#include "factory/state/entry_stamp.h"

#include <gtest/gtest.h>

#include "factory/base/effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(EntryStamp, ChangesWithTheEntry) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  const auto file = folder / "file";
  EXPECT_EQ(entry_stamp(file), "gone");
  files.write(file, "one");
  const std::string first = entry_stamp(file);
  EXPECT_EQ(entry_stamp(file), first);
  files.write(file, "two");  // by a rename: the size is the same, the inode is not
  EXPECT_NE(entry_stamp(file), first);
}

TEST(EntryStamp, OfAFolderChangesWithItsNames) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  files.make_directories(folder / "some");
  const std::string empty = entry_stamp(folder / "some");
  files.write(folder / "some" / "file", "text");
  EXPECT_NE(entry_stamp(folder / "some"), empty);
}

TEST(EntryStamp, OfALinkIsItsOwn) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  files.make_directories(folder / "target");
  std::filesystem::create_symlink("target", folder / "link");
  const std::string link = entry_stamp(folder / "link");
  const std::string behind = entry_stamp(folder / "link" / ".");
  files.write(folder / "target" / "file", "text");
  EXPECT_EQ(entry_stamp(folder / "link"), link);
  EXPECT_NE(entry_stamp(folder / "link" / "."), behind);
}

}  // namespace
}  // namespace kiln
