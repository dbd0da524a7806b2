#include "factory/package/documents.h"

#include "factory/oci/referrer.h"
#include "package/packed_image.h"
#include "support/layout.h"

namespace kiln {
namespace {

using Strings = std::vector<std::string>;

class Documents : public testing::PackedImage {
 protected:
  Artifact with_documents(EvidenceRecord evidence = {}) {
    return attach_documents(compose(spec(), built, std::move(evidence), testing::kEpoch), spec(), "demo",
                            origin, inventory, facts, store);
  }
  static Strings kinds(const Artifact& artifact) {
    Strings kinds;
    for (const Attachment& attachment : artifact.record.attachments) kinds.push_back(attachment.kind);
    return kinds;
  }
  Json document(const Artifact& artifact, const std::string& kind) {
    return Json::parse(store.read(artifact.record.attachment(kind)->blob.digest));
  }

  sbom::RecipeOrigin origin;
  sbom::Inventory inventory;
  DocumentFacts facts{testing::kEpoch, "0.1", "0.2.7", "https://ci.example/"};
};

TEST_F(Documents, EachIsAReferrerOfTheImage) {
  Artifact artifact = with_documents();
  EXPECT_EQ(kinds(artifact), (Strings{"spdx", "cyclonedx", "provenance"}));
  ASSERT_EQ(artifact.image.referrers.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Attachment& attachment = artifact.record.attachments[i];
    EXPECT_EQ(artifact.image.referrers[i].digest, attachment.referrer);
    Json manifest = Json::parse(store.read(attachment.referrer));
    EXPECT_EQ(manifest["subject"]["digest"], artifact.manifest.digest.text());
    EXPECT_EQ(manifest["artifactType"], attachment.blob.media_type);
  }
  EXPECT_EQ(manifest_descriptor(artifact.image).digest, artifact.manifest.digest)
      << "documents do not change the image";
}

TEST_F(Documents, TheySayWhatTheImageIs) {
  spec().labels["org.opencontainers.image.title"] = "OpenBLAS 0.3";
  inventory.packages.emplace_back().name = "libc6";
  Artifact artifact = with_documents();
  Json spdx = document(artifact, "spdx");
  EXPECT_NE(spdx.dump().find("libc6"), std::string::npos);
  EXPECT_NE(spdx.dump().find("OpenBLAS 0.3"), std::string::npos);
  Json provenance = document(artifact, "provenance");
  EXPECT_EQ(provenance["subject"][0]["digest"]["sha256"], artifact.manifest.digest.hex());
  EXPECT_EQ(provenance["predicate"]["runDetails"]["builder"]["id"], "https://ci.example/");
}

TEST_F(Documents, TheEvidenceReportIsOneOfThem) {
  EvidenceRecord evidence;
  evidence.verdict = "conforms";
  evidence.report = store.put("{\"verdict\":\"conforms\"}", std::string(kEvidenceType)).digest;
  Artifact artifact = with_documents(evidence);
  EXPECT_EQ(kinds(artifact), (Strings{"spdx", "cyclonedx", "provenance", "evidence"}));
  EXPECT_EQ(artifact.record.attachment("evidence")->blob.digest, evidence.report);
}

TEST_F(Documents, TheSameImageGivesTheSameDocuments) {
  Artifact first = with_documents();
  Artifact second = with_documents();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(first.record.attachments[i].referrer, second.record.attachments[i].referrer);
}

TEST_F(Documents, AreReadBackFromALayout) {
  Artifact artifact = with_documents();
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_EQ(Json::parse(read_referrer(opened, "spdx").value()), document(artifact, "spdx"));
  EXPECT_EQ(Json::parse(read_referrer(opened, "provenance").value()), document(artifact, "provenance"));
  EXPECT_EQ(
      referrers_text(opened, "it"),
      "the referrers of " + artifact.manifest.digest.text() +
          " in it are application/spdx+json, application/vnd.cyclonedx+json, application/vnd.in-toto+json");
}

TEST_F(Documents, AnImageWithoutAnySaysSo) {
  Artifact artifact = compose(spec(), built, {}, testing::kEpoch);
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_FALSE(read_referrer(opened, "spdx"));
  EXPECT_EQ(referrers_text(opened, "it"),
            "there are no referrers of " + artifact.manifest.digest.text() + " in it");
}

TEST_F(Documents, AnotherStatementIsNoProvenance) {
  Artifact artifact = compose(spec(), built, {}, testing::kEpoch);
  Attachment other = attach(
      {"provenance", "application/vnd.in-toto+json", R"({"predicateType": "https://example.org/scan"})"},
      artifact.manifest, testing::kEpoch, store);
  artifact.image.referrers = {referrer_descriptor(other, store)};
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_FALSE(read_referrer(opened, "provenance"));
}

TEST_F(Documents, ABillOfAnyImageIsMadeFromItsLayers) {
  testing::TestLayout layout;
  layout.one_image({testing::short_tar(
      {"d var/", "d var/lib/", "d var/lib/dpkg/",
       "f var/lib/dpkg/status=Package: libc6\nStatus: install ok installed\nVersion: 2.41\n"})});
  auto opened = SourceImage::open({"oci", layout.path(), ""}, "amd64");
  Json spdx = Json::parse(make_bill(opened, "oci:somewhere", "spdx", testing::kEpoch, "0.1"));
  EXPECT_EQ(spdx["spdxVersion"], "SPDX-2.3");
  EXPECT_NE(spdx.dump().find("libc6"), std::string::npos);
  Json cyclonedx = Json::parse(make_bill(opened, "oci:somewhere", "cyclonedx", testing::kEpoch, "0.1"));
  EXPECT_EQ(cyclonedx["bomFormat"], "CycloneDX");
}

}  // namespace
}  // namespace kiln
