#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/engine/buildah.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// A store as containers/storage keeps it: the container `kiln-1` with the layer `c0de` upon `ba5e`.
class Trees : public ::testing::Test {
 protected:
  Trees() {
    folder.write("buildah", "program");
    folder.write("engine/root/overlay/.has-mount-program", "false");
    fs::create_directories(overlay / "c0de/diff");
    fs::create_directories(overlay / "ba5e/diff");
    fs::create_directories(overlay / "l");
    fs::create_directory_symlink("../ba5e/diff", overlay / "l/SHORT");
    folder.write("engine/root/overlay/c0de/lower", "l/SHORT");
    contain({{{"id", "1"}, {"names", Json::array({"other"})}, {"layer", "ba5e"}},
             {{"id", "2"}, {"names", Json::array({"kiln-1"})}, {"layer", "c0de"}}});
  }

  void contain(const std::vector<Json>& containers) {
    folder.write("engine/root/overlay-containers/containers.json", Json(containers).dump());
  }
  StorageTrees trees() { return {files, folder / "engine", folder / "buildah"}; }
  bool is_believed() { return trees().of("kiln-1").has_value(); }

  testing::TemporaryFolder folder;
  RealFileSystem files;
  const fs::path overlay = folder / "engine/root/overlay";
  const ChangedTree mounted{overlay / "c0de/diff", {overlay / "l/SHORT"}};
};

TEST_F(Trees, AreBelievedOnceTheKernelSaysTheSame) {
  EXPECT_FALSE(is_believed());
  trees().compare("kiln-1", mounted);
  const auto tree = trees().of("kiln-1");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->folder, mounted.folder);
  EXPECT_EQ(tree->below, mounted.below);
  EXPECT_FALSE(trees().of("kiln-2")) << "of this one they say nothing";
}

TEST_F(Trees, MayBeNamedInAnotherWay) {
  trees().compare("kiln-1", {overlay / "c0de/../c0de/diff", {overlay / "ba5e/diff"}});
  EXPECT_TRUE(is_believed());
}

TEST_F(Trees, AreNotBelievedWhenTheKernelSaysSomethingElse) {
  for (const ChangedTree& other :
       {ChangedTree{overlay / "ba5e/diff", mounted.below}, ChangedTree{mounted.folder, {}},
        ChangedTree{mounted.folder, {overlay / "c0de/diff"}},
        ChangedTree{overlay / "nowhere", mounted.below}}) {
    trees().compare("kiln-1", mounted);
    trees().compare("kiln-1", other);
    EXPECT_FALSE(is_believed()) << other.folder;
  }
}

TEST_F(Trees, AreLookedAtAgainWhenWhatTheyHangOnChanges) {
  trees().compare("kiln-1", mounted);
  folder.write("engine/root/overlay/.has-mount-program", "true");  // fuse-overlayfs: marks of its own
  EXPECT_FALSE(is_believed());
  folder.write("engine/root/overlay/.has-mount-program", "false");
  EXPECT_TRUE(is_believed());
  folder.write("buildah", "another program");
  EXPECT_FALSE(is_believed());
  files.remove_all(folder / "buildah");
  EXPECT_FALSE(is_believed());
}

TEST_F(Trees, OfAContainerUponNothingHaveNoneBelow) {
  files.remove_all(overlay / "c0de/lower");
  trees().compare("kiln-1", {mounted.folder, {}});
  ASSERT_TRUE(is_believed());
  EXPECT_TRUE(trees().of("kiln-1")->below.empty());
}

TEST_F(Trees, AreNotReadWhereTheFilesAreOthers) {
  trees().compare("kiln-1", mounted);
  for (const char* lower : {"l/SHORT:l/GONE", "", "l/SHORT:", "l/SHORT\n"}) {
    folder.write("engine/root/overlay/c0de/lower", lower);
    EXPECT_FALSE(is_believed()) << lower;
  }
  folder.write("engine/root/overlay/c0de/lower", "l/SHORT");
  for (const char* layer : {"../ba5e", "", "gone"}) {
    contain({{{"names", Json::array({"kiln-1"})}, {"layer", layer}}});
    EXPECT_FALSE(is_believed()) << layer;
  }
  contain({{{"names", Json::array({"kiln-1"})}}, "text", nullptr});
  EXPECT_FALSE(is_believed());
  contain({{{"names", 1}}});
  EXPECT_FALSE(is_believed());
  folder.write("engine/root/overlay-containers/containers.json", "[{");
  EXPECT_FALSE(is_believed());
}

}  // namespace
}  // namespace kiln
