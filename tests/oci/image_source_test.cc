// What goes with an image in layouts of other makers.
#include "factory/oci/image_source.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/compressed.h"
#include "support/layout.h"

namespace kiln {
namespace {

using testing::short_tar;
using testing::TestLayout;

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

SourceImage open(const std::string& name, const std::string& architecture = "amd64") {
  return SourceImage::open(parse_image_name(name), architecture);
}

std::string plain(const SourceImage& image, std::size_t layer) {
  auto stream = image.open_layer(layer, {});
  std::string bytes;
  for (std::string_view chunk = stream->next(); !chunk.empty(); chunk = stream->next()) bytes += chunk;
  return bytes;
}

TEST(ImageName, IsReadAsSkopeoReadsIt) {
  ImageName name = parse_image_name("oci:some/dir:v1:x");
  EXPECT_EQ(name.transport, "oci");
  EXPECT_EQ(name.path, "some/dir");
  EXPECT_EQ(name.tag, "v1:x");
  EXPECT_EQ(parse_image_name("docker://host:5000/a:b").path, "//host:5000/a:b");
  EXPECT_EQ(parse_image_name("oci-archive:x.tar").tag, "");
  EXPECT_THROW(parse_image_name("library://x"), Error);
  EXPECT_THROW(parse_image_name("plain"), Error);
}

TEST(SourceImage, ReadsLayoutsAndArchivesAlike) {
  TestLayout layout;
  std::vector<std::string> tars = {short_tar({"f a=1"}), short_tar({"f b=2"})};
  layout.one_image(tars);
  for (const std::string& name :
       {"oci:" + layout.path(), "oci:" + layout.path() + ":latest", "oci-archive:" + layout.archive()}) {
    SourceImage image = open(name);
    ASSERT_EQ(image.layer_count(), 2u) << name;
    EXPECT_EQ(plain(image, 0), tars[0]);
    EXPECT_EQ(plain(image, 1), tars[1]);
  }
}

TEST(SourceImage, ReadsCompressedArchives) {
  TestLayout layout;
  const std::string tar = short_tar({"f a=1"}) + std::string(1u << 20, '\0');
  layout.one_image({tar});
  const std::string oci = testing::read_file(layout.archive());
  ImageConfig config;
  config.diff_ids = {Digest::of(tar)};
  const std::string docker = testing::tar(
      {{"l/layer.tar", '0', tar},
       {"c.json", '0', to_json(config).dump()},
       {"manifest.json", '0', R"([{"Config":"c.json","RepoTags":["x:1"],"Layers":["l/layer.tar"]}])"}});
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2"})
    for (const auto& [transport, bytes] :
         {std::pair("oci-archive:", oci), std::pair("docker-archive:", docker)}) {
      const std::string file = layout.folder().write("compressed", testing::compress(bytes, filter)).string();
      const SourceImage image = open(transport + file);
      EXPECT_EQ(plain(image, 0), tar) << transport << filter;
      EXPECT_FALSE(fs::exists("compressed.tar"));
    }
  const std::string cut = testing::compress(docker, "gzip");
  const std::string file = layout.folder().write("cut", cut.substr(0, cut.size() / 2)).string();
  EXPECT_NE(refusal([&] { open("docker-archive:" + file); }).find("cannot be read: "), std::string::npos);
}

Json for_variant(const Descriptor& descriptor, const std::string& variant) {
  Json json = to_json(descriptor);
  json["platform"] = {{"os", "linux"}, {"architecture", "amd64"}};
  if (!variant.empty()) json["platform"]["variant"] = variant;
  return json;
}

// By the rule of `kiln lock`: image_digest_test.cc.
TEST(SourceImage, TakesTheVariantThatRunsOnTheMostProcessors) {
  TestLayout layout;
  const std::vector<std::string> variants = {"v4", "v10", "v2", "odd", "", "v1"};
  std::map<std::string, Descriptor> images;
  for (const std::string& variant : variants) images[variant] = layout.image({short_tar({"f a=" + variant})});
  auto chosen = [&](const std::vector<std::string>& listed, bool nested) {
    Json manifests = Json::array();
    for (const std::string& variant : listed) manifests.push_back(for_variant(images[variant], variant));
    if (nested)
      manifests = Json::array({to_json(layout.blob(
          Json{{"schemaVersion", 2}, {"manifests", manifests}}.dump(), media_type::kImageIndex))});
    layout.index(manifests);
    const Digest digest = open("oci:" + layout.path()).digest();
    for (const auto& [variant, image] : images)
      if (image.digest == digest) return "v:" + variant;
    return std::string();
  };
  for (bool nested : {false, true}) {
    EXPECT_EQ(chosen({"v4", "v2", "", "v1"}, nested), "v:");
    EXPECT_EQ(chosen({"v4", "v1", "v2"}, nested), "v:v1");
    EXPECT_EQ(chosen({"odd", "v10", "v4"}, nested), "v:v4");
  }
}

TEST(SourceImage, CallsWhatIsNoImageThat) {
  TestLayout layout;
  constexpr const char* kCache = "application/vnd.buildkit.cacheconfig.v0";
  const Descriptor layer =
      layout.blob(testing::compress(short_tar({"f a=1"}), "gzip"), media_type::kLayerGzip);
  const Descriptor cache = layout.blob(R"({"layers":[],"records":[]})", kCache);
  const Json listed{{"schemaVersion", 2}, {"manifests", Json::array({to_json(layer), to_json(cache)})}};
  auto refused = [&](const Json& one) {
    layout.index(Json::array({one}));
    return refusal([&] { open("oci:" + layout.path()); });
  };
  const std::string is_cache = "this is a cache of BuildKit's, not an image";
  EXPECT_EQ(refused(to_json(layout.blob(listed.dump(), media_type::kImageIndex))), is_cache);
  Manifest manifest;
  manifest.config = cache;
  manifest.layers = {layer};
  EXPECT_EQ(refused(to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))), is_cache);
  manifest.config = layout.blob("{}", media_type::kEmpty);
  EXPECT_EQ(refused(to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))),
            "this is not an image: it is of the type 'application/vnd.oci.empty.v1+json'");
  manifest.artifact_type = "application/vnd.sylabs.sif.layer.v1.sif";
  Json named = to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest));
  const std::string is_sif =
      "this is not an image: it is of the type 'application/vnd.sylabs.sif.layer.v1.sif'";
  EXPECT_EQ(refused(named), is_sif);
  named["artifactType"] = manifest.artifact_type;
  EXPECT_EQ(refused(named), is_sif);
}

TEST(SourceImage, TakesAConfigurationOfAnotherTypeThatIsOne) {
  TestLayout layout;
  Manifest manifest;
  manifest.config = layout.blob(to_json(ImageConfig{}).dump(), "application/octet-stream");
  layout.index(Json::array({to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))}));
  EXPECT_EQ(open("oci:" + layout.path()).layer_count(), 0u);
}

TEST(SourceImage, ChoosesByTag) {
  TestLayout layout;
  Descriptor one = layout.image({short_tar({"f a=1"})});
  Descriptor two = layout.image({short_tar({"f a=2"})});
  layout.index(Json::array({TestLayout::tagged(one, "one"), TestLayout::tagged(two, "two")}));
  EXPECT_EQ(open("oci:" + layout.path() + ":two").digest(), two.digest);
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path() + ":three"); }),
            "no image is tagged 'three' for linux/amd64");
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path()); }), "2 images, which one?");
}

Json for_platform(const Descriptor& descriptor, const std::string& architecture) {
  Json json = to_json(descriptor);
  json["platform"] = {{"os", "linux"}, {"architecture", architecture}};
  return json;
}

TEST(SourceImage, ChoosesByPlatformInNestedIndexes) {
  TestLayout layout;
  Descriptor amd64 = layout.image({short_tar({"f a=1"})});
  Descriptor arm64 = layout.image({short_tar({"f a=2"})});
  Json inner{{"schemaVersion", 2},
             {"manifests", Json::array({for_platform(amd64, "amd64"), for_platform(arm64, "arm64")})}};
  Descriptor nested = layout.blob(inner.dump(), media_type::kImageIndex);
  layout.index(Json::array({TestLayout::tagged(nested, "")}));
  EXPECT_EQ(open("oci:" + layout.path(), "arm64").digest(), arm64.digest);
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path(), "s390x"); }), "no image for linux/s390x");
}

TEST(SourceImage, RefusesDeepNesting) {
  TestLayout layout;
  Descriptor inner = layout.image({short_tar({"f a=1"})});
  for (int depth = 0; depth < 4; ++depth)
    inner = layout.blob(Json{{"schemaVersion", 2}, {"manifests", Json::array({to_json(inner)})}}.dump(),
                        media_type::kImageIndex);
  layout.index(Json::array({to_json(inner)}));
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path()); }), "image indexes are nested more than 3 deep");
}

TEST(SourceImage, RefusesAnIndexThatIsCalledAManifest) {
  TestLayout layout;
  Descriptor inner = layout.image({short_tar({"f a=1"})});
  Descriptor lying = layout.blob(
      Json{{"schemaVersion", 2}, {"manifests", Json::array({to_json(inner)})}}.dump(), media_type::kManifest);
  layout.index(Json::array({to_json(lying)}));
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path()); }),
            "expected an image manifest, found an image index");
}

// Every blob in turn: changed bytes, another length, gone.
TEST(SourceImage, VerifiesEveryBlob) {
  TestLayout layout;
  layout.one_image({short_tar({"f a=1"}), short_tar({"f b=2"})});
  std::string name = "oci:" + layout.path();
  auto read_everything = [&] {
    SourceImage image = open(name);
    for (std::size_t layer = 0; layer < image.layer_count(); ++layer) plain(image, layer);
  };
  EXPECT_EQ(refusal(read_everything), "accepted");
  for (const auto& blob : fs::directory_iterator(layout.path() + "/blobs/sha256")) {
    std::string good = testing::read_file(blob.path());
    std::string changed = good;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    for (const std::string& bad : {changed, good + " ", good.substr(1), std::string()}) {
      std::ofstream(blob.path(), std::ios::binary) << bad;
      EXPECT_NE(refusal(read_everything), "accepted") << blob.path();
    }
    fs::remove(blob.path());
    EXPECT_NE(refusal(read_everything), "accepted") << blob.path();
    std::ofstream(blob.path(), std::ios::binary) << good;
  }
}

TEST(SourceImage, RefusesDigestsThatAreNoFileNames) {
  TestLayout layout;
  for (const char* digest : {"sha256:../../../../etc/passwd", "sha512:00", "SHA256:00", "sha256:ABC"}) {
    layout.index(Json::array({Json{{"mediaType", media_type::kManifest}, {"digest", digest}, {"size", 1}}}));
    EXPECT_NE(refusal([&] { open("oci:" + layout.path()); }).find("not a sha256 digest"), std::string::npos)
        << digest;
  }
}

TEST(SourceImage, CountsLayers) {
  TestLayout layout;
  Manifest manifest;
  manifest.config = layout.blob(to_json(ImageConfig{}).dump(), media_type::kConfig);
  manifest.layers.push_back(layout.blob(short_tar({}), media_type::kLayerTar));
  layout.index(Json::array({to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))}));
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path()); }),
            "the manifest has 1 layers, the configuration names 0");
  manifest.layers.assign(513, manifest.layers.front());
  layout.index(Json::array({to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))}));
  EXPECT_EQ(refusal([&] { open("oci:" + layout.path()); }), "the image has 513 layers, the limit is 512");
}

// As `docker save` and skopeo write it; older ones link equal layers.
TEST(SourceImage, ReadsDockerArchives) {
  testing::TestFolder folder;
  std::string layer = short_tar({"f a=1"});
  ImageConfig config;
  config.diff_ids = {Digest::of(layer), Digest::of(layer)};
  Json manifest = Json::array(
      {Json{{"Config", "c.json"}, {"RepoTags", {"name:tag"}}, {"Layers", {"1/layer.tar", "2/layer.tar"}}}});
  std::string archive = testing::tar({{"1/layer.tar", '0', layer},
                                      {"2/layer.tar", '2', "", "../1/layer.tar"},
                                      {"c.json", '0', to_json(config).dump()},
                                      {"manifest.json", '0', manifest.dump()}});
  std::string path = folder.write("x.tar", archive).string();
  for (const std::string& name : {"docker-archive:" + path, "docker-archive:" + path + ":name:tag"}) {
    SourceImage image = open(name);
    EXPECT_EQ(plain(image, 0), layer);
    EXPECT_EQ(plain(image, 1), layer);
  }
  EXPECT_EQ(refusal([&] { open("docker-archive:" + path + ":other"); }), "no image is tagged 'other'");
}

TEST(ArchiveIndex, RefusesDamage) {
  testing::TestFolder folder;
  std::string good = testing::tar({{"a", '0', "content"}, {std::string(150, 'n'), '0', "long"}});
  auto verdict = [&](const std::string& bytes) {
    return refusal([&] {
      ReadOnlyFile file(folder.write("x.tar", bytes));
      ArchiveIndex index(file);
      EXPECT_EQ(index.find("./a").size, 7u);
      EXPECT_EQ(index.find(std::string(150, 'n')).size, 4u);
    });
  };
  EXPECT_EQ(verdict(good), "accepted");
  std::string flipped = good;
  flipped[130] ^= 1;
  EXPECT_NE(verdict(flipped).find("not a tar archive"), std::string::npos);
  EXPECT_NE(verdict(good.substr(0, 600)), "accepted");
  testing::TarEntry lying{"a"};
  EXPECT_NE(verdict(testing::tar_header(lying, 1u << 30)).find("leaves the archive"), std::string::npos);
  EXPECT_NE(verdict(testing::tar({{"a", '2', "", "a"}})).find("no file './a'"), std::string::npos);
}

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
