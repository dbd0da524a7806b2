#include "factory/state/state.h"

#include <gtest/gtest.h>

#include "factory/state/record_store.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

struct Formats : ::testing::Test {
  Formats() {
    ImageRecord image;
    image.repository = "pytorch";
    image.tag = "2.6";
    image.immutable_tag = "2.6-k";
    image.key = std::string(64, 'a');
    image.manifest = Digest::of("image");
    image.version = Version("2.6");
    RecordWriter writer(state, files);
    writer.write_image("without", image);
    image.attachments.push_back({"sif", {"application/x", Digest::of("sif"), 3, {}}, {}});
    writer.write_image("with", image);
    site.sif = true;
  }
  testing::FakeFileSystem files;
  StatePaths state{"/s"};
  Site site;
};

TEST_F(Formats, AnImageLacksWhatTheSiteWants) {
  EXPECT_TRUE(lacks_format(site, state, "without", files));
  EXPECT_FALSE(lacks_format(site, state, "with", files));
  EXPECT_FALSE(lacks_format(site, state, "not built", files));
  site.sif = false;
  EXPECT_FALSE(lacks_format(site, state, "without", files));
}

TEST_F(Formats, OnlyWhatLacksOneIsPackagedAgain) {
  EXPECT_FALSE(has_formats(site, state, files));
  repackage_for_formats(site, state, files);
  EXPECT_TRUE(has_formats(site, state, files));
  EXPECT_FALSE(files.exists(state.built("without")));
  EXPECT_TRUE(files.exists(state.built("with")));
}

TEST_F(Formats, WithoutSifNothingIsPackagedAgain) {
  site.sif = false;
  EXPECT_TRUE(has_formats(site, state, files));
  repackage_for_formats(site, state, files);
  EXPECT_TRUE(files.exists(state.built("without")));
  EXPECT_EQ(files.read(state.formats()), "oci\n");
  site.sif = true;
  EXPECT_FALSE(has_formats(site, state, files)) << "wanted later";
}

TEST_F(Formats, OnceTheyHaveThemNoRecordIsRead) {
  files.files["/s/formats"] = "oci sif\n";
  files.files["/s/built/damaged.json"] = "{";
  repackage_for_formats(site, state, files);
  EXPECT_TRUE(files.exists(state.built("without")));
}

}  // namespace
}  // namespace kiln
