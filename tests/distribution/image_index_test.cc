// One name over platforms.
#include "factory/distribution/image_index.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/error.h"

namespace kiln {
namespace {

PlatformImage image_of(const std::string& architecture, const std::string& variant = "") {
  const std::string bytes = "manifest for " + architecture;
  return {{"linux", architecture, variant},
          {std::string(media_type::kManifest), Digest::of(bytes), bytes.size(), {}}};
}

TEST(PlatformIndex, SaysForWhatEachImageIs) {
  const Json index = Json::parse(platform_index({image_of("arm64", "v8"), image_of("amd64")}));
  EXPECT_EQ(index["schemaVersion"], 2);
  EXPECT_EQ(index["mediaType"], std::string(media_type::kImageIndex));
  ASSERT_EQ(index["manifests"].size(), 2u);
  EXPECT_EQ(index["manifests"][0]["platform"], Json({{"os", "linux"}, {"architecture", "amd64"}}));
  EXPECT_EQ(index["manifests"][0]["mediaType"], std::string(media_type::kManifest));
  EXPECT_EQ(index["manifests"][1]["platform"],
            Json({{"os", "linux"}, {"architecture", "arm64"}, {"variant", "v8"}}));
  EXPECT_EQ(index["manifests"][1]["digest"], Digest::of("manifest for arm64").text());
  EXPECT_EQ(index["manifests"][1]["size"], 18);
}

TEST(PlatformIndex, IsTheSameInWhateverOrder) {
  EXPECT_EQ(platform_index({image_of("arm64"), image_of("amd64")}),
            platform_index({image_of("amd64"), image_of("arm64")}));
}

TEST(PlatformIndex, IsOfOneImageAnIndexAsWell) {
  EXPECT_EQ(Json::parse(platform_index({image_of("amd64")}))["manifests"].size(), 1u);
}

TEST(PlatformIndex, SaysWhatAnIndexIsMadeOf) {
  const PlatformImage one = image_of("amd64");
  const PlatformImage two = image_of("arm64");
  EXPECT_EQ(parts_of_index(platform_index({two, one})),
            (std::vector<Digest>{one.manifest.digest, two.manifest.digest}));
  for (const char* none :
       {"", "no JSON", "{}", R"({"manifests":7})", R"({"manifests":[{"digest":"x"},7,null]})",
        R"({"layers":[{"digest":"sha256:0"}]})"})
    EXPECT_TRUE(parts_of_index(none).empty()) << none;
}

TEST(PlatformOfAnImage, IsWhatItsConfigurationSays) {
  ImageConfig config;
  config.architecture = "arm64";
  EXPECT_EQ(platform_of(config).text(), "linux/arm64");
  config.variant = "v8";
  EXPECT_EQ(platform_of(config).text(), "linux/arm64/v8");
}

Descriptor referrer(char letter) {
  Descriptor descriptor{std::string(media_type::kManifest),
                        Digest::from_hex(std::string(64, letter)),
                        7,
                        {{"org.opencontainers.image.created", "2026-11-23T00:00:00Z"}}};
  descriptor.artifact_type = "application/spdx+json";
  return descriptor;
}

TEST(ReferrersIndex, IsMadeWhereThereIsNone) {
  const auto index = with_referrers("", {referrer('a')});
  ASSERT_TRUE(index);
  const Json json = Json::parse(*index);
  EXPECT_EQ(json["schemaVersion"], 2);
  EXPECT_EQ(json["mediaType"], "application/vnd.oci.image.index.v1+json");
  ASSERT_EQ(json["manifests"].size(), 1u);
  EXPECT_EQ(json["manifests"][0]["artifactType"], "application/spdx+json");
  EXPECT_EQ(json["manifests"][0]["annotations"]["org.opencontainers.image.created"], "2026-11-23T00:00:00Z");
}

TEST(ReferrersIndex, KeepsWhatOthersHavePutThere) {
  const std::string theirs =
      R"({"schemaVersion":2,"annotations":{"by":"them"},"manifests":[{"digest":5},{"mediaType":"x","digest":"sha512:y","size":1}]})";
  const auto index = with_referrers(theirs, {referrer('a'), referrer('b')});
  ASSERT_TRUE(index);
  const Json json = Json::parse(*index);
  EXPECT_EQ(json["annotations"]["by"], "them");
  EXPECT_EQ(json["manifests"].size(), 4u);
  EXPECT_EQ(json["manifests"][1]["digest"], "sha512:y");
}

TEST(ReferrersIndex, IsLeftWhereAllAreInIt) {
  const std::string index = *with_referrers("", {referrer('a'), referrer('b')});
  EXPECT_EQ(with_referrers(index, {referrer('b'), referrer('a')}), std::nullopt);
  EXPECT_TRUE(with_referrers(index, {referrer('c')}));
}

TEST(ReferrersIndex, RefusesWhatIsNoIndex) {
  for (const char* text : {"<html>", "[]", "{}", R"({"manifests":5})"})
    EXPECT_THROW(with_referrers(text, {referrer('a')}), Error) << text;
  const std::string deep(1'000'000, '[');  // who writes that again goes as deep
  EXPECT_THROW(with_referrers("{\"manifests\":[],\"x\":" + deep + std::string(deep.size(), ']') + "}",
                              {referrer('a')}),
               Error);
}

TEST(ReferrersIndex, LosesOursAlone) {
  const std::string both = *with_referrers("", {referrer('a'), referrer('b')});
  const auto one = without_referrers(both, {referrer('a').digest, referrer('c').digest});
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, *with_referrers("", {referrer('b')}));
  EXPECT_EQ(without_referrers(both, {referrer('c').digest}), both);
  EXPECT_FALSE(without_referrers(both, {referrer('a').digest, referrer('b').digest})) << "nothing is left";
  for (const char* theirs : {"", "no JSON", "{}", R"({"manifests":[]})", R"({"manifests":{"digest":1}})",
                             R"({"manifests":[{"digest":5},"x",null]})"})
    EXPECT_EQ(without_referrers(theirs, {referrer('a').digest}), theirs);
}

}  // namespace

}  // namespace kiln
