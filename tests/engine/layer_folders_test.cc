#include "factory/engine/layer_folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/oci/overlay_tree.h"
#include "support/tar_bytes.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class LayerFolder : public ::testing::Test {
 protected:
  void unpack(const std::vector<testing::TarEntry>& entries) { unpack_bytes(testing::tar(entries)); }
  void unpack(std::initializer_list<const char*> short_forms) {
    std::vector<testing::TarEntry> entries;
    for (const char* text : short_forms) entries.push_back(testing::short_form(text));
    unpack(entries);
  }
  void unpack_bytes(const std::string& bytes) {
    BuiltLayer layer;
    layer.blob.media_type = media_type::kLayerTar;
    layer.blob.digest = Digest::of(bytes);
    layer.blob.size = bytes.size();
    layer.diff_id = Digest::of(bytes);
    fs::remove_all(tree);
    fs::create_directories(tree);
    unpack_layer(layer, folder.write("blob", bytes), tree);
  }
  struct stat status(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat((tree / path).c_str(), &status), 0) << path;
    return status;
  }
  bool is_whiteout(const std::string& path) {
    const struct stat found = status(path);
    return S_ISCHR(found.st_mode) && found.st_rdev == makedev(0, 0);
  }
  bool is_opaque(const std::string& path) {
    char value = 0;
    for (const char* name : {"trusted.overlay.opaque", "user.overlay.opaque"})
      if (::lgetxattr((tree / path).c_str(), name, &value, 1) == 1) return value == 'y';
    return false;
  }

  testing::TemporaryFolder folder;
  fs::path tree = folder / "tree";
};

TEST_F(LayerFolder, HasFilesAsTheLayerHasThem) {
  unpack({{"d", '5', "", "", 01777, 0, 0, 500},
          {"d/f", '0', "text", "", 04751, 0, 0, 700},
          {"d/s", '2', "", "/etc/nowhere"},
          {"d/h", '1', "", "d/f"},
          {"d/p", '6', "", "", 0600},
          {"d/dev", '3', "", "", 0600, 0, 0, 0, 1, 3}});
  EXPECT_EQ(folder.read("tree/d/f"), "text");
  EXPECT_EQ(status("d/f").st_mode & 07777, 04751u);
  EXPECT_EQ(status("d/f").st_mtime, 700);
  EXPECT_EQ(status("d/f").st_ino, status("d/h").st_ino);
  EXPECT_EQ(status("d").st_mode & 07777, 01777u);
  EXPECT_EQ(status("d").st_mtime, 500) << "though files came into it since";
  EXPECT_EQ(fs::read_symlink(tree / "d/s"), "/etc/nowhere");
  EXPECT_TRUE(S_ISFIFO(status("d/p").st_mode));
  EXPECT_FALSE(fs::exists(tree / "d/dev"));
}

TEST_F(LayerFolder, HasNoHardLinksToDevices) {
  unpack({"c dev/null", "h dev/link>dev/null", "h other>dev/link", "f a=1", "c b", "f b=2", "h c>b"});
  EXPECT_EQ(folder.read("tree/a"), "1");
  for (const char* gone : {"dev/null", "dev/link", "other"}) EXPECT_FALSE(fs::exists(tree / gone)) << gone;
  EXPECT_EQ(folder.read("tree/c"), "2") << "what was a device is a file";
}

TEST_F(LayerFolder, LeavesHolesForZeros) {
  const std::string content = "begin" + std::string(8u << 20, '\0') + "end";
  unpack({{"f", '0', content}});
  EXPECT_TRUE(folder.read("tree/f") == content);
  EXPECT_LT(status("f").st_blocks * 512, 1 << 20);
}

TEST_F(LayerFolder, SaysWhatIsGoneInOverlayfsWords) {
  unpack({"d a/", "w a/gone", "d b/", "o b", "f b/kept=x"});
  EXPECT_TRUE(is_whiteout("a/gone"));
  EXPECT_FALSE(is_opaque("a"));
  EXPECT_TRUE(is_opaque("b"));
  EXPECT_EQ(folder.read("tree/b/kept"), "x");
}

TEST_F(LayerFolder, WhatReplacesAFolderBelowHidesIt) {
  unpack({"w a", "d a/", "f a/f=x", "d b/", "w b", "w c", "f c=y"});
  EXPECT_TRUE(is_opaque("a"));
  EXPECT_TRUE(is_opaque("b"));
  EXPECT_EQ(folder.read("tree/c"), "y");
}

TEST_F(LayerFolder, FollowsLinksInsideOnly) {
  fs::create_directories(folder / "outside");
  unpack({testing::short_form("d usr/"),
          testing::short_form("d usr/lib/"),
          {"lib", '2', "", "usr/lib"},
          {"out", '2', "", (folder / "outside").string()},
          testing::short_form("f lib/x=1"),
          testing::short_form("f out/y=2")});
  EXPECT_EQ(folder.read("tree/usr/lib/x"), "1");
  EXPECT_TRUE(fs::is_empty(folder / "outside"));
}

TEST_F(LayerFolder, AFileIsReplacedAndALinkIsNotWrittenThrough) {
  const fs::path victim = folder.write("victim", "safe");
  unpack({{"x", '2', "", victim.string()},
          testing::short_form("f x=new"),
          testing::short_form("f d=file"),
          testing::short_form("d d/"),
          testing::short_form("f d/in=1")});
  EXPECT_EQ(folder.read("victim"), "safe");
  EXPECT_EQ(folder.read("tree/x"), "new");
  EXPECT_EQ(folder.read("tree/d/in"), "1");
}

TEST_F(LayerFolder, RefusesWhatIsNoLayerByItself) {
  EXPECT_THROW(unpack({"h a>of/another/layer"}), Error);
  EXPECT_THROW(unpack({"f a=file", "f a/b=x"}), Error);
  EXPECT_THROW(unpack({{"../x", '0', "text"}}), Error);
  EXPECT_FALSE(fs::exists(folder / "x"));
}

TEST_F(LayerFolder, IsReadBackAsTheLayerThatItWas) {
  unpack({"d a/", "f a/f=x", "w a/gone", "d b/", "o b"});
  fs::create_directories(folder / "below/b");
  std::vector<std::string> seen;
  walk_changes({tree, {folder / "below"}}, [&](const TreeEntry& entry) {
    seen.push_back(fmt::format("{} {}", static_cast<int>(entry.kind), entry.path));
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"0 a", "0 a/f", "2 a/gone", "0 b", "3 b"}));
}

}  // namespace
}  // namespace kiln
