#include "factory/engine/mount_table.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "45 22 0:39 / /state/engine/root/overlay/abc/merged rw,relatime shared:7 - overlay overlay "
    "rw,lowerdir=l/TOP:l/MIDDLE:/other/disk/bottom,upperdir=/state/engine/root/overlay/abc/diff,"
    "workdir=/state/engine/root/overlay/abc/work,volatile\n"
    "46 22 0:40 / /with\\040blank/merged rw - overlay overlay rw,lowerdir+=/one,lowerdir+=/two,"
    "upperdir=/with\\040blank/a\\134,b,workdir=/w\n"
    "47 22 0:41 / /read/only rw - overlay overlay ro,lowerdir=/a:/b\n"
    "48 45 0:42 / /state/engine/root/overlay/abc/merged/proc rw - proc proc rw\n";

TEST(MountTable, FindsUpperAndLowerFolders) {
  auto tree = overlay_at(kTable, "/state/engine/root/overlay/abc/merged", "/state/engine/root/overlay");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->folder, "/state/engine/root/overlay/abc/diff");
  EXPECT_EQ(tree->below,
            (std::vector<fs::path>{"/state/engine/root/overlay/l/TOP", "/state/engine/root/overlay/l/MIDDLE",
                                   "/other/disk/bottom"}));
}

TEST(MountTable, UndoesEscapesAndReadsTheNewerForm) {
  auto tree = overlay_at(kTable, "/with blank/merged", "/with blank");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->folder, "/with blank/a,b");
  EXPECT_EQ(tree->below, (std::vector<fs::path>{"/one", "/two"}));
}

// containers/storage, when absolute names would not fit into a page.
TEST(MountTable, TakesARelativeUpperFolderFromTheStorage) {
  auto tree = overlay_at(
      "45 22 0:39 / /s/overlay/abc/merged rw - overlay overlay "
      "rw,lowerdir=l/TOP,upperdir=abc/diff,workdir=abc/work\n",
      "/s/overlay/abc/merged", "/s/overlay");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->folder, "/s/overlay/abc/diff");
}

// In a bare chroot the kernel shows what is mounted below it, and no "/".
TEST(MountTable, ABareChrootHasNoRoot) {
  EXPECT_TRUE(root_is_mounted(kTable));
  EXPECT_FALSE(
      root_is_mounted("87 67 254:0 /usr /usr rw - ext4 /dev/vda rw\n89 67 0:39 / /proc rw - proc proc rw\n"));
  EXPECT_TRUE(root_is_mounted("")) << "nothing is known without /proc";
}

TEST(MountTable, OtherMountsAreNoChangedTree) {
  EXPECT_FALSE(overlay_at(kTable, "/", "/"));
  EXPECT_FALSE(overlay_at(kTable, "/nowhere", "/"));
  EXPECT_FALSE(overlay_at(kTable, "/read/only", "/"));
  EXPECT_FALSE(overlay_at("", "/", "/"));
}

TEST(MountTable, ListsTheDeepestMountFirst) {
  EXPECT_EQ(mounts_inside(kTable, "/state/engine"),
            (std::vector<fs::path>{"/state/engine/root/overlay/abc/merged/proc",
                                   "/state/engine/root/overlay/abc/merged"}));
  EXPECT_TRUE(mounts_inside(kTable, "/state/eng").empty());
}

}  // namespace
}  // namespace kiln
