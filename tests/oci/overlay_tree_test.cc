#include "factory/oci/overlay_tree.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "factory/base/error.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// Linux lets every user make this one device node.
void whiteout(const fs::path& path) { ASSERT_EQ(::mknod(path.c_str(), S_IFCHR, 0), 0) << path; }

void set_xattr(const fs::path& path, const char* name, const std::string& value) {
  ASSERT_EQ(::lsetxattr(path.c_str(), name, value.data(), value.size(), 0), 0) << path;
}

std::vector<std::string> walk(const ChangedTree& tree) {
  std::vector<std::string> lines;
  walk_changes(tree, [&](const TreeEntry& entry) {
    constexpr const char* kWords[] = {"", "link ", "whiteout ", "opaque "};
    lines.push_back(kWords[static_cast<int>(entry.kind)] + entry.path +
                    (entry.target.empty() ? "" : " -> " + entry.target));
  });
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Droppings, ContentsGoAndTheirFoldersStay) {
  for (const char* folder : {"run", "tmp", "var/tmp", "var/lib/apt/lists", "root/.cache", "proc", "sys"}) {
    EXPECT_FALSE(is_dropping(folder, true)) << folder;
    EXPECT_TRUE(is_dropping(std::string(folder) + "/x", false)) << folder;
    EXPECT_TRUE(is_dropping(std::string(folder) + "/x", true)) << folder;
    EXPECT_TRUE(is_dropping(std::string(folder) + "/x/y", false)) << folder;
    EXPECT_FALSE(is_dropping(std::string(folder) + "x", false)) << folder;
  }
  EXPECT_FALSE(is_dropping("run/lock", true));
  EXPECT_TRUE(is_dropping("run/lock/x", false));
}

TEST(Droppings, AptsFoldersAndLogFoldersStay) {
  EXPECT_TRUE(is_dropping("var/cache/apt/archives/six_1.0_all.deb", false));
  EXPECT_TRUE(is_dropping("var/cache/apt/pkgcache.bin", false));
  EXPECT_FALSE(is_dropping("var/cache/apt/archives/partial", true));
  EXPECT_TRUE(is_dropping("var/log/dpkg.log", false));
  EXPECT_TRUE(is_dropping("var/log/apt/term.log", false));
  EXPECT_FALSE(is_dropping("var/log/apt", true));
}

TEST(Droppings, CachesAndBackupsByName) {
  EXPECT_TRUE(is_dropping("var/cache/ldconfig/aux-cache", false));
  EXPECT_TRUE(is_dropping("var/lib/dpkg/status-old", false));
  EXPECT_TRUE(is_dropping("var/cache/debconf/config.dat-old", false));
  EXPECT_FALSE(is_dropping("var/lib/dpkg/status", false));
  EXPECT_FALSE(is_dropping("var/lib/dpkg/info/x-old.list", false));
  EXPECT_FALSE(is_dropping("etc/ld.so.cache", false));
  EXPECT_FALSE(is_dropping("opt/kiln/tmp/x", false));
}

TEST(Walk, FoldersFirstNamesInByteOrder) {
  TemporaryFolder tree;
  for (const char* name : {"b/z", "b/a", "a.txt", "a/x", "Z", "a-b"}) tree.write(name, "");
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"Z", "a", "a/x", "a-b", "a.txt", "b", "b/a", "b/z"}));
}

TEST(Walk, DroppingsAndEngineFilesAreLeftOut) {
  TemporaryFolder tree;
  for (const char* name : {"run/.containerenv", "run/kiln/framework-x/run.sh", "tmp/x", "etc/hosts",
                           "etc/resolv.conf", "etc/hostname"})
    tree.write(name, "");
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"etc", "run", "tmp"}));
  tree.write("etc/hosts", "127.0.0.1 localhost\n");  // somebody's own
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"etc", "etc/hosts", "run", "tmp"}));
}

TEST(Walk, WhiteoutsEvenOfDroppings) {
  TemporaryFolder tree;
  TemporaryFolder below;
  fs::create_directories(tree / "var/log");
  whiteout(tree / "gone");
  whiteout(tree / "var/log/gone.log");
  EXPECT_EQ(walk({tree.path(), {below.path()}}),
            (Lines{"whiteout gone", "var", "var/log", "whiteout var/log/gone.log"}));
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"var", "var/log"})) << "there is nothing to remove";
}

TEST(Walk, AFolderIsOpaqueOnlyWhereItHidesOne) {
  TemporaryFolder tree;
  TemporaryFolder upper;
  TemporaryFolder lower;
  for (const char* name : {"old", "new", "file", "hidden", "deep/old"}) {
    fs::create_directories(tree / name);
    set_xattr(tree / name, "user.overlay.opaque", "y");
  }
  fs::create_directories(lower / "old");
  fs::create_directories(lower / "hidden");
  fs::create_directories(lower / "deep/old");
  whiteout(upper / "hidden");  // the layer between has removed it
  fs::create_directories(upper / "deep");
  set_xattr(upper / "deep", "user.overlay.opaque", "y");  // hides deep/old
  lower.write("file", "");
  EXPECT_EQ(walk({tree.path(), {upper.path(), lower.path()}}),
            (Lines{"deep", "deep/old", "file", "hidden", "new", "old", "opaque old"}));
  fs::remove_all(upper / "deep");
  EXPECT_EQ(walk({tree.path(), {upper.path(), lower.path()}}),
            (Lines{"deep", "deep/old", "opaque deep/old", "file", "hidden", "new", "old", "opaque old"}));
}

TEST(Walk, HardLinksNameTheFirstByPath) {
  TemporaryFolder tree;
  tree.write("z", "same");
  fs::create_hard_link(tree / "z", tree / "a");
  fs::create_hard_link(tree / "z", tree / "m");
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"a", "link m -> a", "link z -> a"}));
}

TEST(Walk, AHardLinkToADroppingIsTheFileItself) {
  TemporaryFolder tree;
  tree.write("var/cache/apt/x.deb", "same");
  fs::create_directories(tree / "opt");
  fs::create_hard_link(tree / "var/cache/apt/x.deb", tree / "zzz");
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"opt", "var", "var/cache", "var/cache/apt", "zzz"}));
}

TEST(Walk, SymbolicLinksAreNotFollowed) {
  TemporaryFolder tree;
  fs::create_symlink("/etc", tree / "link");
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"link -> /etc"}));
}

TEST(Walk, SocketsAreLeftOutAndPipesStay) {
  TemporaryFolder tree;
  int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = tree / "socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  ASSERT_EQ(::mkfifo((tree / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(walk({tree.path(), {}}), (Lines{"pipe"}));
}

// Root's Debian has some in /dev, and a user's can have none.
TEST(Walk, DeviceNodesAreLeftOutForAll) {
  TemporaryFolder tree;
  fs::create_directories(tree / "dev");
  if (::mknod((tree / "dev/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    GTEST_SKIP() << "only root may make device nodes";
  ASSERT_EQ(::mknod((tree / "disk").c_str(), S_IFBLK | 0600, makedev(7, 0)), 0);
  fs::create_symlink("/proc/self/fd", tree / "dev/fd");
  whiteout(tree / "gone");
  EXPECT_EQ(walk({tree.path(), {tree.path()}}), (Lines{"dev", "dev/fd -> /proc/self/fd", "whiteout gone"}));
  remove_droppings(tree.path());
  EXPECT_FALSE(fs::exists(tree / "dev/null")) << "a kept container equals its layer";
  EXPECT_FALSE(fs::exists(tree / "disk"));
  EXPECT_TRUE(fs::exists(fs::symlink_status(tree / "gone")));
}

TEST(Walk, OnlyPortableAttributesAreKept) {
  TemporaryFolder tree;
  tree.write("file", "");
  set_xattr(tree / "file", "user.mine", std::string("a\0b", 3));
  set_xattr(tree / "file", "user.overlay.origin", "x");
  set_xattr(tree / "file", "user.containers.override_stat", "0:0:0755");
  std::map<std::string, std::string> found;
  walk_changes({tree.path(), {}}, [&](const TreeEntry& entry) { found = entry.xattrs; });
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"user.mine", std::string("a\0b", 3)}}));
}

TEST(Walk, WhatNoLayerCanHoldIsAnError) {
  TemporaryFolder tree;
  tree.write("opt/.wh.file", "");
  try {
    walk({tree.path(), {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    EXPECT_EQ(error.message(), "/opt/.wh.file cannot be kept in an image");
  }
}

TEST(Walk, ReferencesOfOverlayfsAreAnError) {
  TemporaryFolder tree;
  fs::create_directories(tree / "moved");
  set_xattr(tree / "moved", "user.overlay.redirect", "/old");
  EXPECT_THROW(walk({tree.path(), {}}), Error);
}

TEST(RemoveDroppings, LeavesWhatALayerHolds) {
  TemporaryFolder tree;
  for (const char* name : {"run/kiln/x", "tmp/a/b", "var/log/apt/term.log", "etc/hosts", "usr/bin/x"})
    tree.write(name, "");
  whiteout(tree / "var/log/gone");
  fs::create_symlink("/usr/bin", tree / "tmp/link");
  remove_droppings(tree.path());
  Lines left;
  for (const auto& item : fs::recursive_directory_iterator(tree.path()))
    left.push_back(item.path().lexically_relative(tree.path()));
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (Lines{"etc", "run", "tmp", "usr", "usr/bin", "usr/bin/x", "var", "var/log", "var/log/apt",
                         "var/log/gone"}));
}

}  // namespace
}  // namespace kiln
