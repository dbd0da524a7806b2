#include <atomic>
#include <thread>

#include "factory/package/examine.h"
#include "factory/package/kept_findings.h"
#include "package/packed_image.h"

namespace kiln {
namespace {

using testing::short_tar;

std::string data(const std::string& name) {
  return RealFileSystem().read(fs::path(KILN_TEST_DATA) / "sbom" / name).value_or("");
}

// Counts the ELF files that are looked at.
struct Scans final : evidence::FactsCache {
  std::optional<evidence::FileFacts> find(const Digest&) override {
    ++asked;
    return std::nullopt;
  }
  void keep(const Digest&, const evidence::FileFacts&) override {}
  std::atomic<int> asked = 0;
};

class KeptLayersTest : public testing::PackedImage {
 protected:
  fs::path kept() const { return folder / "evidence"; }
  // All that is said of the image, or why it is refused.
  std::string said(KeptLayers* layers) {
    try {
      Contents contents = examine(spec(), built, store, {testing::cpus(), 1, nullptr, nullptr, layers});
      return contents.table + contents.excess + to_json(contents.evidence).dump() +
             sbom::to_json(contents.inventory).dump() + store.read(contents.evidence.report);
    } catch (const Error& error) {
      return error.format();
    }
  }
  std::string said_by_extracts() {
    KeptLayers layers(cache, 1, nullptr);
    return said(&layers);
  }
  void expect_the_same(const std::string& what) {
    const std::string direct = said(nullptr);
    EXPECT_EQ(said_by_extracts(), direct) << what << ", read for the first time";
    EXPECT_EQ(said_by_extracts(), direct) << what << ", read again";
  }
  void set_layers(const std::vector<std::string>& tars) {
    built.layers.clear();
    for (const std::string& tar : tars) add_layer("b", tar);
  }
  fs::path extract() {
    const std::vector<std::string> names = files.list(kept());
    EXPECT_EQ(names.size(), 1u) << "one file, and no lock is left";
    return kept() / names.at(0);
  }

  const std::string wide = testing::wide_code();
  CacheFolder cache{folder / "evidence", findings_version(), files};
};

TEST_F(KeptLayersTest, SayWhatTheLayersSay) {
  const std::string base =
      short_tar({"f etc/os-release=ID=debian\n", "f opt/libf.so=" + wide,
                 "f etc/ld.so.conf=include /etc/ld.so.conf.d/*\n",
                 "f var/lib/dpkg/status=Package: zlib1g\nStatus: install ok installed\nVersion: "
                 "1\nArchitecture: amd64\n",
                 "f usr/share/doc/zlib1g/copyright=" + data("copyright-zlib1g"), "d opt/x", "l opt/y>x",
                 "f var/lib/dpkg/info/zlib1g.list=/.\n/usr/lib/x.dist-info/METADATA\n",
                 "f usr/lib/x.dist-info/METADATA=" + data("METADATA-PyYAML")});
  const std::vector<std::pair<const char*, std::string>> uppers = {
      {"a whiteout", short_tar({"w opt/libf.so"})},
      {"an opaque folder", short_tar({"o var/lib/dpkg", "f var/lib/dpkg/status="})},
      {"a hard link to a hidden file", short_tar({"h opt/libg.so>opt/libf.so", "w opt/libf.so"})},
      {"a hard link to a database", short_tar({"h a/lib/dpkg/status>var/lib/dpkg/status"})},
      {"a file through a linked folder", short_tar({"f opt/y/libh.so=" + wide})},
      {"a folder that is now a link", short_tar({"l var/lib/dpkg>/opt/x"})},
      {"another database", short_tar({"f var/lib/rpm/rpmdb.sqlite=" + data("rpmdb.sqlite")})},
      {"a damaged database", short_tar({"f var/lib/rpm/rpmdb.sqlite=no database"})},
      {"a damaged ELF file", short_tar({"f opt/libd.so=" + wide.substr(0, 300)})},
      {"an ELF file of nothing but a start", short_tar({"f opt/e=\x7f"
                                                        "ELF"})},
      {"a folder of the loader", short_tar({"f etc/ld.so.conf.d/a.conf=/opt/x\n"})},
      {"attributes", testing::pax_header({{"SCHILY.xattr.user.a", "1"}, {"SCHILY.xattr.security.x", "2"}}) +
                         testing::tar_entry({"opt/libf.so", '0', wide}) + testing::tar_end()},
      {"nothing", short_tar({})},
  };
  for (const auto& [what, tar] : uppers) {
    set_layers({base, tar});
    expect_the_same(what);
  }
  std::vector<std::string> all{base};
  for (const auto& [what, tar] : uppers) all.push_back(tar);
  set_layers(all);
  expect_the_same("all of them");
  EXPECT_EQ(files.list(kept()).size(), uppers.size() + 1) << "one extract a layer";
}

TEST_F(KeptLayersTest, WhatIsRefusedIsRefusedInTheSameWords) {
  const std::vector<std::vector<std::string>> images = {
      {short_tar({"f x=", "h b>a"})},
      {short_tar({"f a=1"}), short_tar({"f ./a/b=2"})},
      {short_tar({"l a>b", "l b>a"}), short_tar({"f ./a//x=1"})},
      {short_tar({"h b>../../etc/passwd"})},
      {short_tar({"f fine=" + wide}), short_tar({"f a/../../b=1"})},
      {short_tar({"f a=" + std::string(3000, 'x')}).substr(0, 2000)},
      {std::string(1000, 'x')},
  };
  for (const std::vector<std::string>& tars : images) {
    set_layers(tars);
    EXPECT_TRUE(said(nullptr).starts_with("error: ")) << said(nullptr);
    expect_the_same(said(nullptr));
  }
}

TEST_F(KeptLayersTest, AnExtractInALayerIsAFileLikeAnyOther) {
  set_layers({short_tar({"f opt/libf.so=" + wide})});
  said_by_extracts();
  const std::string bytes = *files.read(extract());
  set_layers({short_tar({"f opt/libf.so=" + bytes, "f b=" + bytes.substr(bytes.find('\n') + 1)})});
  expect_the_same("an extract as a file");
  set_layers({bytes});
  expect_the_same("an extract as a layer");
  set_layers({bytes.substr(bytes.find('\n') + 1)});
  expect_the_same("an extract as a layer");
}

// A flipped bit, half a file and the extract of another layer: the layer is read, and the extract mended.
TEST_F(KeptLayersTest, DamageIsAsGoodAsAbsence) {
  set_layers({short_tar({"f opt/a.txt=/a\n", "f lib/dpkg/status=Package: a\nVersion: 1\n"})});
  const std::string direct = said(nullptr);
  EXPECT_EQ(said_by_extracts(), direct);
  const std::string whole = *files.read(extract());
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    files.write(extract(), damaged);
    EXPECT_EQ(said_by_extracts(), direct) << "a bit flipped in byte " << at;
    EXPECT_EQ(*files.read(extract()), whole);
  }
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string(), whole + "x"}) {
    files.write(extract(), damaged);
    EXPECT_EQ(said_by_extracts(), direct);
    EXPECT_EQ(*files.read(extract()), whole);
  }
  const fs::path first = extract();
  built.layers.clear();
  add_layer("b", short_tar({"f opt/b.txt=/b\n"}));
  const std::string second = said_by_extracts();
  EXPECT_EQ(files.list(kept()).size(), 2u);
  for (const std::string& name : files.list(kept())) files.write(kept() / name, whole);
  EXPECT_EQ(said_by_extracts(), second) << "the extract of another layer";
}

TEST_F(KeptLayersTest, DamageOfALayerIsNoticedThoughItsExtractIsWhole) {
  const std::string whole = said_by_extracts();
  const fs::path layer = store.path(built.layers[0].blob.digest);
  std::string bytes = *files.read(layer);
  bytes[bytes.find("libc6")] ^= 4;  // in a content: only the digest tells
  files.write(layer, bytes);
  EXPECT_TRUE(said_by_extracts().starts_with("error: ")) << said_by_extracts();
  EXPECT_EQ(said_by_extracts(), said(nullptr));
  files.remove_all(layer);
  EXPECT_TRUE(said_by_extracts().starts_with("error: ")) << "a layer that is gone";
}

// Bytes that are right for the manifest and not for the configuration.
TEST_F(KeptLayersTest, AnotherDiffIdIsAnotherLayer) {
  said_by_extracts();
  built.layers[0].diff_id = Digest::of("another");
  EXPECT_TRUE(said_by_extracts().starts_with("error: "));
  EXPECT_EQ(said_by_extracts(), said(nullptr));
  EXPECT_EQ(files.list(kept()).size(), 1u) << "nothing is kept of a layer that is refused, and no lock";
}

// The blob is read for its digest alone: what is inside comes from the extract.
TEST_F(KeptLayersTest, EachLayerIsReadOnceForAllImages) {
  add_library(wide);
  Scans scanned;
  KeptLayers layers(cache, 1, &scanned);
  said(&layers);
  EXPECT_EQ(scanned.asked, 1);
  add_layer("c", short_tar({"f opt/more=/more\n"}));
  KeptLayers later(cache, 1, &scanned);
  EXPECT_NE(said(&later).find("libf.so"), std::string::npos);
  EXPECT_EQ(scanned.asked, 1);
  files.remove_all(kept());
  std::vector<std::thread> cells;
  for (int cell = 0; cell < 4; ++cell)
    cells.emplace_back([&] {
      KeptLayers mine(cache, 1, &scanned);
      said(&mine);
    });
  for (std::thread& cell : cells) cell.join();
  EXPECT_EQ(scanned.asked, 2) << "whoever asks at the same time waits";
  EXPECT_EQ(files.list(kept()).size(), 3u);
}

// An extract of it is tried once and never again.
TEST_F(KeptLayersTest, ALayerWithTooMuchToKeepIsReadForEachImage) {
  built.layers.clear();
  add_library(wide);
  const std::string direct = said(nullptr);
  Scans scanned;
  for (int time = 0; time < 3; ++time) {
    KeptLayers layers(cache, 1, &scanned, 100);
    EXPECT_EQ(said(&layers), direct);
    EXPECT_EQ(scanned.asked, 1) << "by extracts; readers of layers do not ask";
  }
  EXPECT_LT(fs::file_size(extract()), 100u);
}

}  // namespace
}  // namespace kiln
