// What goes with an image in layouts of other makers.
#include <gtest/gtest.h>

#include "factory/oci/image_source.h"
#include "support/layout.h"

namespace kiln {
namespace {

using testing::short_tar;
using testing::TestLayout;

constexpr const char* kSpdx = "application/spdx+json";

// An artifact manifest with one document; `subject` may be left out.
Descriptor artifact(const TestLayout& layout, const std::string& type, const std::string& document,
                    const std::optional<Descriptor>& subject) {
  Manifest manifest;
  manifest.config = layout.blob("{}", media_type::kEmpty);
  manifest.layers = {layout.blob(document, type)};
  manifest.artifact_type = type;
  manifest.subject = subject;
  return layout.blob(to_json(manifest).dump(), media_type::kManifest);
}

SourceImage opened(const TestLayout& layout, const std::string& tag) {
  return SourceImage::open({"oci", layout.path(), tag}, "amd64");
}

TEST(ImageReferrers, AreThoseWhoseSubjectIsTheImage) {
  TestLayout layout;
  Descriptor one = layout.image({short_tar({"f a=1"})});
  Descriptor two = layout.image({short_tar({"f a=2"})});
  Descriptor bill = artifact(layout, kSpdx, "bill of one", one);
  layout.index(Json::array({TestLayout::tagged(one, "one"), TestLayout::tagged(two, "two"), to_json(bill)}));
  SourceImage image = opened(layout, "one");
  auto found = image.referrers();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().digest, bill.digest);
  EXPECT_EQ(found.front().type, kSpdx);
  EXPECT_EQ(image.attached(found.front().layers.at(0)), "bill of one");
  EXPECT_TRUE(opened(layout, "two").referrers().empty());
  SourceImage archive = SourceImage::open({"oci-archive", layout.archive(), "one"}, "amd64");
  EXPECT_EQ(archive.referrers().size(), 1u);
}

// A client that finds no API for referrers keeps them in an index with this tag.
TEST(ImageReferrers, AreFoundByTheTagSchema) {
  TestLayout layout;
  Descriptor one = layout.image({short_tar({"f a=1"})});
  Descriptor bill = artifact(layout, kSpdx, "bill", one);
  Descriptor listed =
      layout.blob(Json{{"schemaVersion", 2}, {"manifests", Json::array({to_json(bill)})}}.dump(),
                  media_type::kImageIndex);
  layout.index(Json::array({TestLayout::tagged(one, "one"),
                            TestLayout::tagged(listed, "sha256-" + one.digest.hex()), to_json(bill)}));
  auto found = opened(layout, "one").referrers();
  ASSERT_EQ(found.size(), 1u) << "listed twice, found once";
  EXPECT_EQ(found.front().digest, bill.digest);
}

TEST(ImageReferrers, AreBuildKitsAttestationsToo) {
  TestLayout layout;
  Descriptor one = layout.image({short_tar({"f a=1"})});
  Descriptor attestation = artifact(layout, "application/vnd.in-toto+json", "statement", std::nullopt);
  attestation.annotations = {{"vnd.docker.reference.type", "attestation-manifest"},
                             {"vnd.docker.reference.digest", one.digest.text()}};
  Json nested{{"schemaVersion", 2}, {"manifests", Json::array({to_json(one), to_json(attestation)})}};
  layout.index(Json::array({TestLayout::tagged(layout.blob(nested.dump(), media_type::kImageIndex), "one")}));
  SourceImage image = opened(layout, "one");
  EXPECT_EQ(image.digest(), one.digest);
  ASSERT_EQ(image.referrers().size(), 1u);
}

TEST(ImageReferrers, WhatCannotBeReadIsNone) {
  TestLayout layout;
  Descriptor one = layout.image({short_tar({"f a=1"})});
  Descriptor bill = artifact(layout, kSpdx, "bill", one);
  Descriptor gone = artifact(layout, kSpdx, "gone", one);
  Descriptor no_manifest = layout.blob("[1]", media_type::kManifest);
  Json sha512{{"mediaType", media_type::kManifest}, {"digest", "sha512:00"}, {"size", 1}};
  layout.index(Json::array(
      {TestLayout::tagged(one, "one"), to_json(gone), to_json(no_manifest), sha512, to_json(bill)}));
  fs::remove(fs::path(layout.path()) / "blobs/sha256" / gone.digest.hex());
  SourceImage image = opened(layout, "one");
  auto found = image.referrers();
  ASSERT_EQ(found.size(), 1u);
  layout.folder().write("image/blobs/sha256/" + found.front().layers.at(0).digest.hex(), "lies");
  EXPECT_THROW(image.attached(found.front().layers.at(0)), Error);
}

}  // namespace
}  // namespace kiln
