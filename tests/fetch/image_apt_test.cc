// What apt in a pulled image reads: its sources in both forms, and the keys that it trusts.
#include "factory/fetch/image_apt.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"
#include "factory/fetch/apt_text.h"
#include "factory/fetch/debian_archive.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

const std::string kKey = "\x99\x01\x0d a certificate";

LayerApt ubuntu() {
  LayerApt layer;
  layer.status =
      "Package: base-files\nStatus: install ok installed\nArchitecture: amd64\nVersion: 13\n\n"
      "Package: tzdata\nStatus: install ok installed\nArchitecture: all\nVersion: 2026b\n";
  layer.files["etc/apt/sources.list"] =
      "# See http://help.ubuntu.com/\n"
      "deb http://archive.ubuntu.com/ubuntu/ jammy main restricted\n"
      "# deb-src http://archive.ubuntu.com/ubuntu/ jammy main\n"
      "deb-src http://archive.ubuntu.com/ubuntu/ jammy main\n"
      "deb\thttp://archive.ubuntu.com/ubuntu jammy main universe # more\n"
      "deb http://security.ubuntu.com/ubuntu/ jammy-security main\n";
  layer.files["etc/apt/trusted.gpg.d/ubuntu.gpg"] = kKey;
  return layer;
}

TEST(ImageApt, TakesOneLineSourcesAndMergesTheirComponents) {
  ImageApt apt;
  apt.add_layer(ubuntu());
  const std::vector<ImageSource> expected = {
      {"http://archive.ubuntu.com/ubuntu", {"", "jammy", "main restricted universe", ""}, kKey},
      {"http://security.ubuntu.com/ubuntu", {"", "jammy-security", "main", ""}, kKey}};
  EXPECT_EQ(apt.sources("amd64"), expected);
  EXPECT_EQ(apt.packages(), (AptPackages{"base-files:amd64=13", "tzdata=2026b"}));
}

TEST(ImageApt, TakesDeb822AndFollowsLinksToKeyrings) {
  LayerApt layer;
  layer.files["etc/apt/sources.list.d/ubuntu.sources"] =
      "Types: deb deb-src\nURIs: http://archive.ubuntu.com/ubuntu/\nSuites: noble noble-updates\n"
      "Components: main universe\nSigned-By: /usr/share/keyrings/ubuntu.gpg\n\n"
      "Types: deb\nURIs: http://a.example/\nSuites: off\nComponents: main\nEnabled: no\n\n"
      "Types: deb\nURIs: http://a.example/\nSuites: arm\nComponents: main\nArchitectures: arm64\n\n"
      "Types: deb-src\nURIs: http://a.example/\nSuites: source\nComponents: main\n\n"
      "Types: deb\nURIs: http://b.example/$(ARCH)\nSuites: x\nComponents: main\nTrusted: yes\n";
  layer.files["etc/apt/sources.list.d/README"] = "no source of apt's";
  layer.files["usr/share/keyrings/ubuntu-2018.gpg"] = kKey;
  layer.links["usr/share/keyrings/ubuntu.gpg"] = "ubuntu-2018.gpg";
  ImageApt apt;
  apt.add_layer(layer);
  const auto sources = apt.sources("amd64");
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(
      sources[1],
      (ImageSource{"http://archive.ubuntu.com/ubuntu", {"", "noble-updates", "main universe", ""}, kKey}));
  EXPECT_EQ(sources[2], (ImageSource{"http://b.example/amd64", {"", "x", "main", "Trusted: yes\n"}, ""}));
  EXPECT_EQ(apt.sources("arm64").size(), 4U);
}

// CUDA's, and what NVIDIA's and AMD's pages tell people to write.
TEST(ImageApt, TakesArchivesWithoutSuitesAndAnArmouredKey) {
  LayerApt layer;
  layer.files["etc/apt/sources.list.d/cuda.list"] =
      "deb [signed-by=/usr/share/keyrings/cuda.gpg arch=amd64,arm64] "
      "https://a.example/repos/ubuntu2404/x86_64  "
      "/\n"
      "deb [ arch=amd64 signed-by=/usr/share/keyrings/cuda.gpg ] https://a.example/repos ./sub/\n"
      "deb [arch=arm64] https://a.example/other /\n"
      "deb file:/var/cuda-repo /\n"
      "deb cdrom:[Debian]/ bookworm main\n";
  layer.files["usr/share/keyrings/cuda.gpg"] =
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: GnuPG v2\nComment: a: b\n\na2lsbg==\n=abcd\n"
      "-----END PGP PUBLIC KEY BLOCK-----\n";
  ImageApt apt;
  apt.add_layer(layer);
  const std::vector<ImageSource> expected = {
      {"https://a.example/repos/ubuntu2404/x86_64", {"", "./", "", ""}, "kiln"},
      {"https://a.example/repos/sub", {"", "./", "", ""}, "kiln"}};
  EXPECT_EQ(apt.sources("amd64"), expected);
}

TEST(ImageApt, TakesWhatStepsAddAndNothingThatTheyTakeAway) {
  LayerApt cleaned;
  cleaned.removed = {"etc/apt/trusted.gpg.d", "etc/apt/sources.list"};
  LayerApt list;
  list.files["etc/apt/sources.list.d/rocm.list"] =
      "deb [signed-by=/etc/apt/keyrings/rocm.asc] http://r.example/apt/6 noble main\n";
  LayerApt key, other;
  key.files["etc/apt/keyrings/rocm.asc"] = "key of one";
  other.files["etc/apt/keyrings/rocm.asc"] = "key of another";
  other.files["etc/apt/sources.list.d/rocm.list"] =
      "deb [signed-by=/etc/apt/keyrings/rocm.asc] http://r.example/apt/7 noble main\n";
  ImageApt apt;
  apt.add_layer(ubuntu());
  for (const LayerApt& step : {cleaned, key, list, other}) apt.add_step(step);
  const auto sources = apt.sources("amd64");
  ASSERT_EQ(sources.size(), 4U) << "the base's two, and one of each step";
  EXPECT_EQ(sources[2].uri, "http://r.example/apt/6");
  EXPECT_EQ(sources[3].keyring, "key of anotherkey of one");

  ImageApt base;
  base.add_layer(ubuntu());
  base.add_layer(cleaned);
  EXPECT_TRUE(base.sources("amd64").empty()) << "in the base itself a whiteout is one";
}

TEST(ImageApt, SaysWhatItCannotRead) {
  auto sources_of = [](const std::string& path, const std::string& text) {
    LayerApt layer;
    layer.files[path] = text;
    ImageApt apt;
    apt.add_layer(layer);
    return apt.sources("amd64");
  };
  const char* list = "etc/apt/sources.list";
  EXPECT_THROW(sources_of(list, "deb [signed-by=/no.gpg] http://a.example x main\n"), Error);
  EXPECT_THROW(sources_of(list, "deb [arch=amd64 http://a.example x main\n"), Error);
  EXPECT_THROW(sources_of(list, "deb http://a.example\n"), Error);
  EXPECT_THROW(sources_of(list, "deb http://a.example ../x main\n"), Error);
  EXPECT_THROW(sources_of("etc/apt/sources.list.d/a.sources", "no field\n"), Error);
  EXPECT_TRUE(sources_of(list, "debx http://a.example x main\n").empty());
  // Without a key that it could have, and without a word of trust: apt will say so.
  EXPECT_EQ(sources_of(list, "deb http://a.example x main\n").front().keyring, "");
}

TEST(ImageApt, KnowsKeyringsByTheirContent) {
  EXPECT_EQ(binary_keyring(kKey, "k"), kKey);
  EXPECT_THROW(binary_keyring(std::string("\0\0\0 \x01\x01\0\x02KBXf", 12), "k"), Error);
  EXPECT_THROW(binary_keyring("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!\n-----END PGP", "k"), Error);
  EXPECT_EQ(
      binary_keyring("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\na2k=\n-----END PGP PUBLIC KEY BLOCK-----\n"
                     "-----BEGIN PGP PUBLIC KEY BLOCK-----\r\n\r\nbG4=\r\n=x\r\n-----END PGP",
                     "k"),
      "kiln");
  EXPECT_NO_THROW(binary_keyring("-----BEGIN PGP", "cut")) << "apt says that it is none";
}

TEST(ImageApt, IsASiteOfItsOwn) {
  const kiln::testing::TemporaryFolder folder;
  RealFileSystem files;
  ImageApt apt;
  apt.add_layer(ubuntu());
  auto sources = apt.sources("amd64");
  sources.push_back({"https://a.example/x", {"", "./", "", "Trusted: yes\n"}, ""});
  const fs::path site = site_of_image(sources, folder.path(), files);
  EXPECT_EQ(files.read(site / "key-0.gpg"), kKey);
  EXPECT_NE(files.read(site / "apt.conf")->find("SourceList \"/run/kiln/site/base/archives.sources\""),
            std::string::npos);
  const auto read = apt_sources(files.read(site / "archives.sources").value());
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].suite.options, "Signed-By: /run/kiln/site/base/key-0.gpg\n");
  EXPECT_EQ(read[2].uri, "https://a.example/x");
  EXPECT_EQ(read[2].suite, sources[2].suite);
}

}  // namespace
}  // namespace kiln
