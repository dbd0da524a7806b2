#include "factory/engine/container_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class MountPoints : public ::testing::Test {
 protected:
  MountPoints() {
    for (const fs::path& layer : {tree.folder, tree.below[0], tree.below[1]}) fs::create_directories(layer);
    for (const char* name : {"dev", "etc", "proc", "sys"}) fs::create_directory(tree.below[1] / name);
    fs::permissions(tree.below[1] / "etc", fs::perms(0750));
    for (const char* name : {"hosts", "hostname", "resolv.conf"}) write(tree.below[1] / "etc" / name);
  }
  static void write(const fs::path& file) { std::ofstream(file) << "x"; }
  bool changed(const char* path) const { return fs::exists(fs::symlink_status(tree.folder / path)); }

  testing::TemporaryFolder folder;
  ChangedTree tree{folder / "upper", {folder / "middle", folder / "lowest"}};
};

TEST_F(MountPoints, AnImageThatHasThemAllIsLeftAlone) {
  settle_mount_points(tree);
  EXPECT_TRUE(fs::is_empty(tree.folder));
}

TEST_F(MountPoints, WhatTheEngineAloneTouchedIsNotChanged) {
  fs::create_directory(tree.folder / "etc");
  fs::permissions(tree.folder / "etc", fs::perms(0750));
  settle_mount_points(tree);
  EXPECT_FALSE(changed("etc"));
}

TEST_F(MountPoints, WhatTheScriptChangedStays) {
  fs::create_directory(tree.folder / "etc");
  fs::permissions(tree.folder / "etc", fs::perms(0700));
  settle_mount_points(tree);
  EXPECT_TRUE(changed("etc")) << "another mode";
  fs::permissions(tree.folder / "etc", fs::perms(0750));
  write(tree.folder / "etc" / "group");
  settle_mount_points(tree);
  EXPECT_TRUE(changed("etc/group"));
}

// buildah makes the file that is missing, and so copies the folder up.
TEST_F(MountPoints, AMissingFileChangesItsFolder) {
  fs::remove(tree.below[1] / "etc" / "hosts");
  settle_mount_points(tree);
  ASSERT_TRUE(changed("etc"));
  EXPECT_EQ(fs::status(tree.folder / "etc").permissions(), fs::perms(0750)) << "as it is below";
  EXPECT_TRUE(fs::is_empty(tree.folder / "etc"));
  settle_mount_points(tree);
  EXPECT_TRUE(changed("etc"));
}

TEST_F(MountPoints, AFileThatALayerRemovedIsMissing) {
  fs::create_directory(tree.below[0] / "etc");
  if (::mknod((tree.below[0] / "etc" / "hosts").c_str(), S_IFCHR | 0600, makedev(0, 0)) != 0)
    GTEST_SKIP() << "needs the right to make a whiteout";
  settle_mount_points(tree);
  EXPECT_TRUE(changed("etc"));
}

TEST_F(MountPoints, FoldersThatTheImageLacksAreItsFromThenOn) {
  for (const char* name : {"dev", "proc"}) fs::remove(tree.below[1] / name);
  settle_mount_points(tree);
  EXPECT_TRUE(changed("dev"));
  EXPECT_TRUE(changed("proc"));
  EXPECT_FALSE(changed("sys"));
  EXPECT_EQ(fs::status(tree.folder / "dev").permissions(), fs::perms(0755));
}

TEST_F(MountPoints, AFolderThatTheScriptRemovedStaysRemoved) {
  fs::remove_all(tree.below[1] / "etc");
  if (::mknod((tree.folder / "etc").c_str(), S_IFCHR | 0600, makedev(0, 0)) != 0)
    GTEST_SKIP() << "needs the right to make a whiteout";
  settle_mount_points(tree);
  EXPECT_FALSE(fs::is_directory(tree.folder / "etc"));
}

TEST_F(MountPoints, AreMadeWhereLinksLeadInside) {
  const fs::path root = tree.folder;
  fs::create_directories(root / "var/run");
  fs::create_symlink("/var/run", root / "run");
  fs::create_directories(root / "etc");
  fs::create_symlink("../run/resolve/stub.conf", root / "etc/resolv.conf");
  make_mount_point(root, "/run/kiln/file", false);
  make_mount_point(root, "/run/kiln/folder", true);
  make_mount_point(root, "/etc/resolv.conf", false);
  make_mount_point(root, "/etc/resolv.conf", false);
  EXPECT_TRUE(fs::is_regular_file(root / "var/run/kiln/file"));
  EXPECT_TRUE(fs::is_directory(root / "var/run/kiln/folder"));
  EXPECT_TRUE(fs::is_regular_file(root / "var/run/resolve/stub.conf"));
  EXPECT_EQ(fs::status(root / "var/run/kiln").permissions(), fs::perms(0755));
  fs::create_symlink("b", root / "a");
  fs::create_symlink("a", root / "b");
  EXPECT_THROW(make_mount_point(root, "/a", false), Error);
}

TEST(ResolveInside, FollowsLinksInsideTheRootOnly) {
  testing::TemporaryFolder root;
  fs::create_directories(root / "usr/opt");
  fs::create_symlink("/usr/opt", root / "opt");
  fs::create_symlink("../../../../usr", root / "usr/up");
  fs::create_symlink("/etc/passwd", root / "usr/opt/link");
  fs::create_symlink("loop", root / "loop");
  auto resolve = [&](const std::string& path) {
    return resolve_inside(root.path(), path).lexically_relative(root.path()).string();
  };
  EXPECT_EQ(resolve("/opt/kiln/lib"), "usr/opt/kiln/lib");
  EXPECT_EQ(resolve("/opt/kiln/"), "usr/opt/kiln");
  EXPECT_EQ(resolve("/opt/link"), "usr/opt/link");
  EXPECT_EQ(resolve("/usr/up/opt/x"), "usr/opt/x");
  EXPECT_EQ(resolve("/../../etc"), "etc");
  EXPECT_THROW(resolve("/loop/x"), Error);
}

}  // namespace
}  // namespace kiln
