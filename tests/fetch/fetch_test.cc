// What a mirror is filled with, and what steps are told of it: the pure parts.
#include <gtest/gtest.h>

#include "factory/fetch/apt_text.h"
#include "factory/fetch/commits.h"
#include "factory/fetch/source_needs.h"
#include "factory/run/offline.h"

namespace kiln {
namespace {

const MirrorArchive kArchive{
    "base/debian@trixie",
    "amd64",
    "",
    {{"apt/trixie-0123456789ab", "trixie", "main", "Signed-By: /usr/share/key.gpg\n"},
     {"apt/trixie-security-ba9876543210", "trixie-security", "main", "Signed-By: keys/own.gpg\n"}}};

TEST(InstalledPackages, AreThoseThatDpkgCallsInstalled) {
  const auto packages = packages_in_status(
      "Package: libgomp1\nStatus: install ok installed\nArchitecture: amd64\nVersion: "
      "14.2.0-19\nDescription: a\n b\n\n"
      "Package: tzdata\nStatus: hold ok installed\nArchitecture: all\nVersion: 2026b-1\n\n"
      "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n\n"
      "Package: half\nStatus: install ok half-installed\nArchitecture: amd64\nVersion: 1\n");
  EXPECT_EQ(packages, (AptPackages{"libgomp1:amd64=14.2.0-19", "tzdata=2026b-1"}));
  EXPECT_TRUE(packages_in_status("").empty());
}

TEST(DebianArchive, ReadsTheMachinesSources) {
  const auto sources = apt_sources(
      "Types: deb\nURIs: http://user:word@a.example/debian/\nSuites: trixie trixie-updates\nComponents: "
      "main\n"
      "Signed-By: /usr/share/key.gpg\n\nTypes: deb\nURIs: http://b.example\nSuites: "
      "trixie-security\nComponents: main\n"
      "Trusted: yes\n");
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[1].uri, "http://user:word@a.example/debian");
  EXPECT_EQ(sources[1].suite, (MirrorSuite{"", "trixie-updates", "main", "Signed-By: /usr/share/key.gpg\n"}));
  EXPECT_EQ(sources[2].suite.options, "Trusted: yes\n");
  EXPECT_THROW(apt_sources("Types: deb\nSuites: trixie\n"), Error);
  EXPECT_THROW(apt_sources("Types: deb\nURIs: http://a\nSuites: ../x\n"), Error);
}

TEST(DebianArchive, ReadsWhereAptFindsAPackage) {
  const std::string hex(64, 'a');
  const auto package = listed_package(
      "'copy:/m/apt/trixie-0123456789ab/pool/main/o/openblas/"
      "libopenblas0_0.3.29%2bds-3_amd64.deb' libopenblas0_0.3.29+ds-3_amd64.deb 6759 SHA256:" +
          hex,
      kArchive, "/m");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->path, "pool/main/o/openblas/libopenblas0_0.3.29+ds-3_amd64.deb");
  EXPECT_EQ(package->suite, 0U);
  EXPECT_EQ(package->size, 6759U);
  EXPECT_EQ(package->digest.hex(), hex);
  const MirrorArchive flat{"base/cuda@13", "amd64", "", {{"apt/flat-0123456789ab", "./", "", ""}}};
  const auto of_flat =
      listed_package("'copy:/m/apt/flat-0123456789ab/./sub/a_1.deb' a_1.deb 1 SHA256:" + hex, flat, "/m");
  ASSERT_TRUE(of_flat);
  EXPECT_EQ(of_flat->path, "sub/a_1.deb");
  for (const char* line : {"", "'copy:/m/apt/other/pool/a.deb' a.deb 1 SHA256:", "Get:1 http://a b c",
                           "'http://a/pool/a.deb' a.deb 1 MD5Sum:00"})
    EXPECT_FALSE(listed_package(line, kArchive, "/m")) << line;
  EXPECT_FALSE(
      listed_package("'copy:/m/apt/trixie-0123456789ab/%2e%2e/x.deb' x.deb 1 SHA256:" + hex, kArchive, "/m"));
}

TEST(MirroredCommits, FindSubmodulesAsGitDoes) {
  EXPECT_EQ(submodule_url("https://e.org/a/b.git", "https://f.org/c"), "https://f.org/c");
  EXPECT_EQ(submodule_url("https://e.org/a/b.git", "../c.git"), "https://e.org/a/c.git");
  EXPECT_EQ(submodule_url("https://e.org/a/b/", "../../c"), "https://e.org/c");
  EXPECT_EQ(submodule_url("https://e.org/a", "./c"), "https://e.org/a/c");
  EXPECT_NO_THROW(submodule_url("a", "../../../../c"));
  EXPECT_NE(repository_path("https://e.org/a/b.git"), repository_path("https://f.org/a/b.git"));
  EXPECT_TRUE(is_inside(repository_path("https://e.org/a/..")));
}

TEST(SourceNeeds, TakeWheelsOfTheArchitecture) {
  EXPECT_TRUE(may_suit("a-1-py3-none-any.whl", "amd64"));
  EXPECT_TRUE(may_suit("a-1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "amd64"));
  EXPECT_FALSE(may_suit("a-1-cp313-cp313-manylinux_2_28_aarch64.whl", "amd64"));
  EXPECT_TRUE(may_suit("a-1-cp313-cp313-manylinux_2_28_aarch64.whl", "arm64"));
  EXPECT_FALSE(may_suit("a-1-cp313-cp313-win_amd64.whl", "amd64"));
  EXPECT_FALSE(may_suit("a-1-cp313-cp313-macosx_11_0_x86_64.whl", "amd64"));
  EXPECT_TRUE(may_suit("a-1.tar.gz", "amd64"));
}

TEST(SourceNeeds, SayWhatAMirrorLacks) {
  SourceNeeds needs;
  needs.images[{"example.org/base:1", "arm64"}] = {"demo/a"};
  needs.sources[{"https://e.org/a.tar", "sha256:" + std::string(64, '1')}] = {"demo/a"};
  needs.wheels[{"jax", "", {std::string(64, '2'), std::string(64, '3')}, "amd64"}] = {"demo/a"};
  EXPECT_EQ(lacking(needs, {}).size(), 3U);
  Mirror mirror;
  auto add_base = [&](const char* architecture) {
    const std::string path = image_path("example.org/base:1", architecture);
    mirror.add({MirrorKind::image, "i", path, {}, 0, "", "example.org/base:1", {}});
  };
  add_base("amd64");
  EXPECT_EQ(lacking(needs, mirror).front(), "a file of the package jax for pip");
  EXPECT_EQ(lacking(needs, mirror).back(), "the image example.org/base:1 arm64")
      << "another machine's is none";
  add_base("arm64");
  const Digest file = Digest::from_hex(std::string(64, '1')), wheel = Digest::from_hex(std::string(64, '3'));
  mirror.add({MirrorKind::archive, "a.tar", "archives/1/a.tar", file, 1, "", "https://e.org/a.tar", {}});
  mirror.add({MirrorKind::wheel, "jax", "pip/3/jax.whl", wheel, 1, "", "", {}});
  EXPECT_EQ(lacking(needs, mirror), std::vector<std::string>{});
}

TEST(Offline, LeadsAptPipAndGitToTheMirror) {
  Mirror mirror;
  mirror.add(
      {MirrorKind::commit, "u", "git/a-0.git", {}, 0, std::string(40, 'a'), "https://e.org/a\".git", {}});
  const OfflineWords words = offline_words(mirror, &kArchive, "/run/mirror", "/run/words");
  EXPECT_NE(words.apt.find("Dir::Etc::SourceList \"/run/words/mirror.sources\";"), std::string::npos);
  EXPECT_NE(
      words.sources.find("URIs: copy:/run/mirror/apt/trixie-0123456789ab\nSuites: trixie\nComponents: main\n"
                         "Signed-By: /usr/share/key.gpg\n"),
      std::string::npos);
  EXPECT_NE(words.sources.find("Signed-By: /run/mirror/keys/own.gpg\n"), std::string::npos);
  EXPECT_EQ(words.pip, "[global]\nno-index = true\nfind-links = file:///run/mirror/pip/links.html\n");
  EXPECT_NE(
      words.git.find("[url \"file:///run/mirror/git/a-0.git\"]\n\tinsteadOf = \"https://e.org/a\\\".git\"\n"),
      std::string::npos);
  EXPECT_EQ(offline_words(mirror, nullptr, "/m", "/w").apt, "");
  EXPECT_EQ(copy_uri("/a mirror/März%/apt"), "copy:/a%20mirror/M%c3%a4rz%25/apt");
  EXPECT_EQ(percent_decoded_path(copy_uri("/a mirror/März%/apt")), "copy:/a mirror/März%/apt");
}

}  // namespace
}  // namespace kiln
