#include "factory/package/sif_pass.h"

#include "factory/sif/sif_build.h"
#include "package/packed_image.h"

namespace kiln {
namespace {

struct KeptConversions final : Conversions {
  std::optional<Descriptor> find(const std::string& key) const override {
    auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const std::string& key, const Descriptor& sif) override { kept[key] = sif; }
  std::map<std::string, Descriptor> kept;
};

class SifPass : public testing::PackedImage {
 protected:
  SifPass() { fs::create_directories(folder / "scratch"); }
  Attachment attached() {
    Artifact artifact = attach_sif(compose(spec(), built, {}, testing::kEpoch), facts, store, conversions);
    EXPECT_EQ(artifact.record.attachments.size(), 1u);
    return artifact.record.attachments.at(0);
  }
  SifFacts facts{testing::kEpoch, "0.1", 1, folder / "scratch"};
  KeptConversions conversions;
};

TEST_F(SifPass, TheSifIsAnAttachmentThatReadsBack) {
  Attachment sif = attached();
  EXPECT_EQ(sif.kind, "sif");
  EXPECT_TRUE(sif.referrer.empty());
  EXPECT_EQ(fs::file_size(store.path(sif.blob.digest)), sif.blob.size);
  sif::SquashfsTotals totals = sif::check_sif(ReadOnlyFile(store.path(sif.blob.digest)), 1);
  EXPECT_GE(totals.files, 2u);
}

TEST_F(SifPass, TheSameImageIsNotConvertedTwice) {
  Attachment first = attached();
  ASSERT_EQ(conversions.kept.size(), 1u);
  fs::remove(store.path(built.layers[0].blob.digest));  // it could not be made again
  EXPECT_EQ(attached().blob, first.blob);
}

TEST_F(SifPass, WhatDecidesTheBitsIsInTheKey) {
  attached();
  spec().tag = "0.3-other";
  attached();
  spec().labels["new"] = "label";
  attached();
  facts.tool = "0.2";
  attached();
  facts.jobs = 2;  // does not
  attached();
  EXPECT_EQ(conversions.kept.size(), 4u);
}

TEST_F(SifPass, AFileThatIsGoneOrCutIsMadeAgain) {
  Attachment first = attached();
  fs::remove(store.path(first.blob.digest));
  EXPECT_EQ(attached().blob, first.blob);
  EXPECT_TRUE(store.has(first.blob.digest));
  fs::permissions(store.path(first.blob.digest), fs::perms::owner_all);
  fs::resize_file(store.path(first.blob.digest), 10);
  attached();
  EXPECT_EQ(fs::file_size(store.path(first.blob.digest)), first.blob.size);
}

TEST_F(SifPass, AnErrorSaysWhatItWasMaking) {
  fs::remove(store.path(built.layers[0].blob.digest));
  try {
    attached();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(error.format().find("making the SIF of openblas:0.3-source"), std::string::npos);
  }
  EXPECT_TRUE(conversions.kept.empty());
}

}  // namespace
}  // namespace kiln
