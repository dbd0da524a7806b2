#include "factory/oci/documents.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

const std::string kHex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Digest, GivesKnownValues) {
  EXPECT_EQ(Digest::of("").hex(), kHex);
  EXPECT_EQ(Digest::of("abc").text(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Hasher hasher;
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(hasher.finish(), Digest::of("abc"));
}

TEST(Digest, RefusesWhatIsNotOne) {
  for (std::string bad : {"", "sha256:", "sha256:../../etc/passwd", "sha512:00", "md5:00"})
    EXPECT_THROW(Digest::parse(bad), Error) << bad;
  EXPECT_THROW(Digest::parse("sha256:" + std::string(64, 'A')), Error) << "upper case";
  EXPECT_THROW(Digest::parse("sha256:" + kHex + "0"), Error);
  EXPECT_EQ(Digest::parse("sha256:" + kHex).hex(), kHex);
  EXPECT_TRUE(Digest().empty());
  EXPECT_EQ(Digest().text(), "");
}

ImageConfig sample_config() {
  ImageConfig config;
  config.created = "1980-01-01T00:00:00Z";
  config.variant = "v3";
  config.working_dir = "/";
  config.env = {"PATH=/usr/bin", "A=b=c"};
  config.cmd = {"/bin/sh"};
  config.labels = {{"org.opencontainers.image.title", "pytorch"}};
  config.diff_ids = {Digest::of("layer")};
  config.history = {{"1980-01-01T00:00:00Z", "base", false}, {"", "env", true}};
  return config;
}

TEST(Oci, ConfigRoundTrips) {
  ImageConfig config = sample_config();
  auto document = JsonDocument::parse(to_json(config).dump(), "config.json");
  EXPECT_EQ(image_config_from_json(document.root()), config);
}

TEST(Oci, ManifestRoundTrips) {
  Manifest manifest;
  manifest.config = {std::string(media_type::kConfig), Digest::of("config"), 6, {}};
  manifest.layers = {{std::string(media_type::kLayerZstd), Digest::of("layer"), 5, {{"a", "b"}}}};
  auto document = JsonDocument::parse(to_json(manifest).dump(), "manifest.json");
  Manifest read = manifest_from_json(document.root());
  EXPECT_EQ(read.config, manifest.config);
  EXPECT_EQ(read.layers, manifest.layers);
}

TEST(Oci, DockersNullsAreAccepted) {
  auto document = JsonDocument::parse(
      R"({"architecture":"amd64","os":"linux","config":{"Env":null,"Cmd":null,"Labels":null,"Entrypoint":null},)"
      R"("rootfs":{"type":"layers","diff_ids":[]},"history":null})",
      "config.json");
  ImageConfig config = image_config_from_json(document.root());
  EXPECT_TRUE(config.env.empty());
  EXPECT_TRUE(config.history.empty());
}

TEST(Oci, HostileDocumentsAreRefusedWithTheirPlace) {
  auto fails = [](const std::string& text) {
    try {
      manifest_from_json(JsonDocument::parse(text, "m.json").root());
    } catch (const Error& error) {
      return error.format();
    }
    return std::string("accepted");
  };
  EXPECT_NE(fails(R"({"schemaVersion":2,"manifests":[]})").find("image index"), std::string::npos);
  EXPECT_NE(fails(R"({"schemaVersion":1,"config":{},"layers":[]})").find("/schemaVersion"),
            std::string::npos);
  std::string evil = fails(
      R"({"schemaVersion":2,"config":{"mediaType":"x","digest":"sha256:../../x","size":1},"layers":[]})");
  EXPECT_NE(evil.find("(at /config/digest)"), std::string::npos) << evil;
  std::string negative = fails(R"({"schemaVersion":2,"config":{"mediaType":"x","digest":"sha256:)" + kHex +
                               R"(","size":-1},"layers":[]})");
  EXPECT_NE(negative.find("(at /config/size)"), std::string::npos) << negative;
}

}  // namespace
}  // namespace kiln
