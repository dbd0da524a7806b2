#include "factory/state/sif_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/record/image_blobs.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class SifFolder : public ::testing::Test {
 protected:
  // An image whose bytes are in the store, with a SIF of these contents ("" = none).
  ImageRecord image(const std::string& tag, const std::string& sif) {
    Manifest manifest;
    ImageConfig config;
    manifest.config = store.put(to_json(config).dump(), std::string(media_type::kConfig));
    manifest.layers = {store.put("layer of " + tag + sif, std::string(media_type::kLayerZstd))};
    ImageRecord record;
    record.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
    record.repository = "hello";
    record.tag = tag;
    record.application = "hello";
    if (!sif.empty()) record.attachments = {{"sif", store.put(sif, "sif"), {}}};
    return record;
  }
  std::int64_t publish(const std::vector<ImageRecord>& images) {
    std::int64_t number = index.publish(images, {}, "2026-11-20T10:00:00Z", "");
    show_sifs(state, index);
    return number;
  }
  std::string shown(const std::string& name) const { return folder.read("state/sif/" + name); }
  std::vector<std::string> names() const { return files.list(state.sif_folder()); }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  Index index = Index::open(state.root(), Index::Mode::write);
  RealFileSystem files;
};

using Strings = std::vector<std::string>;

TEST_F(SifFolder, ShowsTheCurrentSnapshot) {
  publish({image("1", "one"), image("2", ""), image("3", "three")});
  EXPECT_EQ(names(), (Strings{"hello_1.sif", "hello_3.sif"}));
  EXPECT_EQ(shown("hello_1.sif"), "one");
  EXPECT_EQ(shown("hello_3.sif"), "three");
  EXPECT_TRUE(fs::read_symlink(state.sif_folder() / "hello_1.sif").is_relative());
}

TEST_F(SifFolder, MovesWithTagsAndBack) {
  publish({image("1", "one"), image("2", "two")});
  publish({image("1", "newer"), image("2", "")});
  EXPECT_EQ(names(), (Strings{"hello_1.sif"}));
  EXPECT_EQ(shown("hello_1.sif"), "newer");
  index.rollback(1);
  show_sifs(state, index);
  EXPECT_EQ(names(), (Strings{"hello_1.sif", "hello_2.sif"}));
  EXPECT_EQ(shown("hello_1.sif"), "one");
}

TEST_F(SifFolder, KeepsTheFolderShownBeforeOnly) {
  publish({image("1", "one")});
  fs::path first = fs::canonical(state.sif_folder());
  publish({image("1", "two")});
  EXPECT_TRUE(fs::exists(first / "hello_1.sif")) << "somebody may just be opening it";
  publish({image("1", "three")});
  EXPECT_FALSE(fs::exists(first));
  EXPECT_EQ(files.list(state.sif_snapshots()).size(), 2u);
}

TEST_F(SifFolder, MendsWhatAKillLeft) {
  publish({image("1", "one")});
  index.publish({image("1", "two")}, {}, "2026-11-20T11:00:00Z", "");  // killed before show_sifs
  fs::create_directories(state.sif_snapshots() / ".2-half");
  EXPECT_EQ(shown("hello_1.sif"), "one");
  show_sifs(state, index);
  EXPECT_EQ(shown("hello_1.sif"), "two");
  EXPECT_FALSE(fs::exists(state.sif_snapshots() / ".2-half"));
  fs::remove(state.sif_folder());
  show_sifs(state, index);
  EXPECT_EQ(shown("hello_1.sif"), "two");
}

TEST_F(SifFolder, WorksWhereTheStateFolderWasMoved) {
  publish({image("1", "one")});
  fs::rename(state.root(), folder / "moved");
  EXPECT_EQ(folder.read("moved/sif/hello_1.sif"), "one");
}

TEST_F(SifFolder, NeverNamesWhatIsNotThere) {
  ImageRecord lost = image("1", "one");
  publish({lost, image("2", "two")});
  fs::remove(store.path(lost.attachments.front().blob.digest));
  show_sifs(state, index);
  EXPECT_EQ(names(), (Strings{"hello_2.sif"}));
}

TEST_F(SifFolder, TouchesNothingOfOthers) {
  folder.write("state/sif/mine.sif", "mine");
  index.publish({image("1", "one")}, {}, "2026-11-20T10:00:00Z", "");
  try {
    show_sifs(state, index);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find("is not a link that kiln made"), std::string::npos);
  }
  EXPECT_EQ(shown("mine.sif"), "mine");
}

TEST_F(SifFolder, NothingToShowMakesNothing) {
  publish({image("1", "")});
  EXPECT_FALSE(fs::exists(state.sif_folder()));
}

TEST_F(SifFolder, ThePathIsTheLinkWhenThatIsRight) {
  ImageRecord old = image("1", "one");
  publish({old});
  EXPECT_EQ(sif_path(state.root(), old), state.sif_folder() / "hello_1.sif");
  ImageRecord newer = image("1", "two");
  publish({newer});
  EXPECT_EQ(sif_path(state.root(), newer), state.sif_folder() / "hello_1.sif");
  EXPECT_EQ(sif_path(state.root(), old), store.path(old.attachments.front().blob.digest));
  EXPECT_THROW(sif_path(state.root(), image("2", "")), Error);
}

}  // namespace
}  // namespace kiln
