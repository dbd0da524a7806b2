#include "factory/distribution/referrers_index.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/error.h"

namespace kiln {
namespace {

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
