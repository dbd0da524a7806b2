#include "factory/package/package.h"

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

using Strings = std::vector<std::string>;

struct NoConversions final : Conversions {
  std::optional<Descriptor> find(const std::string&) const override { return std::nullopt; }
  void keep(const std::string&, const Descriptor&) override { ++made; }
  int made = 0;
};

class Package : public testing::PackedImage {
 protected:
  Package() {
    fs::create_directories(folder / "scratch");
    add_library(testing::wide_code());
  }
  Artifact packaged() {
    PackageRequest request{spec(),
                           "demo",
                           built,
                           origin,
                           testing::cpus(),
                           {testing::kEpoch, "0.1", "0.2.7", "urn:b"},
                           1,
                           refuse_excess,
                           with_sif,
                           folder / "evidence",
                           folder / "log",
                           folder / "scratch"};
    return package(request, store, files, conversions);
  }
  Strings kinds() {
    Strings kinds;
    for (const Attachment& attachment : packaged().record.attachments) kinds.push_back(attachment.kind);
    return kinds;
  }

  sbom::RecipeOrigin origin;
  NoConversions conversions;
  bool refuse_excess = false;
  bool with_sif = true;
};

TEST_F(Package, EveryPassAddsToOneArtifact) {
  Artifact artifact = packaged();
  EXPECT_EQ(artifact.record.evidence.verdict, "exceeds");
  EXPECT_EQ(artifact.image.config.labels.at("io.kiln.evidence.verdict"), "exceeds");
  EXPECT_EQ(artifact.image.referrers.size(), 4u);
  Strings attached;
  for (const Attachment& attachment : artifact.record.attachments) attached.push_back(attachment.kind);
  EXPECT_EQ(attached, (Strings{"spdx", "cyclonedx", "provenance", "evidence", "sif"}));
  std::string spdx = store.read(artifact.record.attachment("spdx")->blob.digest);
  EXPECT_NE(spdx.find("libc6"), std::string::npos) << "what the examination found";
  EXPECT_EQ(manifest_descriptor(artifact.image), artifact.manifest) << "no pass changes the image";
}

TEST_F(Package, TheSiteSaysWhetherThereIsASif) {
  with_sif = false;
  EXPECT_EQ(kinds(), (Strings{"spdx", "cyclonedx", "provenance", "evidence"}));
  EXPECT_EQ(conversions.made, 0);
}

TEST_F(Package, RefusedCodeLeavesItsEvidenceAndNothingElse) {
  refuse_excess = true;
  EXPECT_THROW(packaged(), Error);
  EXPECT_NE(folder.read("log").find("exceeds"), std::string::npos);
  EXPECT_EQ(conversions.made, 0);
}

TEST_F(Package, TheSameImageGivesTheSameArtifact) {
  Artifact first = packaged();
  Artifact second = packaged();
  EXPECT_EQ(to_json(first.record), to_json(second.record));
}

}  // namespace

}  // namespace kiln
