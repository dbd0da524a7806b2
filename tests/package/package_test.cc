#include "factory/package/package.h"

#include "package/packed_image.h"

namespace kiln {
namespace {

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
