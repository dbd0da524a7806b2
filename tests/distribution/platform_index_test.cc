// One name over platforms.
#include "factory/distribution/platform_index.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace kiln
