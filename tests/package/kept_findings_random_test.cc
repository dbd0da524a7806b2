// Images made by chance of layers made by chance: what their extracts say is what the layers say. Layers are
// shared between images, so an extract that one image made is read by others, which hide other files.
#include <fmt/format.h>

#include <random>

#include "factory/package/examine.h"
#include "factory/package/kept_findings.h"
#include "package/packed_image.h"

namespace kiln {
namespace {

using evidence::LayerBlob;

class RandomLayers {
 public:
  explicit RandomLayers(unsigned seed) : random_(seed) {
    const evidence::testing::Compiler compiler;
    const std::string wide = testing::wide_code();
    contents_ = {"",
                 "x",
                 "/opt/lib\n",
                 "include /etc/ld.so.conf.d/*.conf\n",
                 std::string(5000, '/'),
                 std::string("\x7f"
                             "ELF"),
                 wide,
                 wide.substr(0, 200),
                 compiler.shared("int f(int x) { return x; }", "-Wl,-soname,libg\xc3\xa9.so.1"),
                 compiler.shared("int f(int); int g(int x) { return f(x); }", "-Wl,-z,lazy"),
                 "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n\n"
                 "Package: b\nStatus: install ok installed\nVersion: 2\nArchitecture: amd64\n",
                 "Metadata-Version: 2.1\nName: Thing\nVersion: 1.0\nLicense: MIT\n",
                 "/.\n/usr/x.dist-info/METADATA\n/b/c\n",
                 "ID=debian\nNAME=Debian\nVERSION_ID=13\n"};
  }

  std::string layer() {
    std::string tar;
    for (std::size_t left = below(14) + 1; left > 0; --left) tar += entry();
    return tar + testing::tar_end();
  }
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

 private:
  const std::string& one_of(const std::vector<std::string>& all) { return all[below(all.size())]; }
  std::string path() {
    static const std::vector<std::string> kFolders = {"",         "a/",   "b/",           "a/b/",
                                                      "opt/lib/", "usr/", "var/lib/dpkg/"};
    static const std::vector<std::string> kNames = {"a",       "b",          "c",     "libf.so",
                                                    "libg.so", "ld.so.conf", "status"};
    static const std::vector<std::string> kPlaces = {
        "var/lib/dpkg/status",       "var/lib/dpkg/info/a.list", "usr/x.dist-info/METADATA",
        "usr/share/doc/a/copyright", "etc/os-release",           "usr/lib/os-release",
        "var/lib/rpm/rpmdb.sqlite",  "etc/ld.so.conf",           "etc/ld.so.conf.d/a.conf",
        "usr/conda-meta/x.json",     "lib/apk/db/installed"};
    return below(3) == 0 ? one_of(kPlaces) : one_of(kFolders) + one_of(kNames);
  }
  std::string file(const std::string& path) {
    const std::string entry =
        testing::tar_entry({path, '0', one_of(contents_), "", 0644 + 0111 * unsigned(below(2))});
    if (below(6) != 0) return entry;
    return testing::pax_header({{"SCHILY.xattr.user.a", fmt::format("{}", below(3))}}) + entry;
  }
  // PAX 1.0: a map of the regions stands before their bytes.
  std::string sparse(const std::string& path) {
    const std::string& bytes = one_of(contents_);
    const std::string map = testing::padded(fmt::format("1\n{}\n{}\n", 4096, bytes.size()));
    return testing::pax_header({{"GNU.sparse.major", "1"},
                                {"GNU.sparse.minor", "0"},
                                {"GNU.sparse.name", path},
                                {"GNU.sparse.realsize", std::to_string(4096 + bytes.size())}}) +
           testing::tar_entry({"GNUSparseFile.0/x", '0', map + bytes});
  }
  std::string entry() {
    const std::string at = path();
    switch (below(12)) {
      case 0:
        return testing::tar_entry(testing::short_form("w " + at));
      case 1:
        return testing::tar_entry(testing::short_form("o " + at.substr(0, at.rfind('/') + 1) + "b"));
      case 2:
        return testing::tar_entry(testing::short_form("l " + at + ">/" + path()));
      case 3:
        return below(4) == 0 ? testing::tar_entry(testing::short_form("h " + at + ">" + path())) : file(at);
      case 4:
        return testing::tar_entry(testing::short_form("d " + at));
      case 5:
        return testing::tar_entry(testing::short_form((below(2) == 0 ? "p " : "c ") + at));
      case 6:
        return sparse(at);
      default:
        return file(at);
    }
  }

  std::mt19937 random_;
  std::vector<std::string> contents_;
};

class KeptLayersOfRandomImages : public testing::PackedImage {
 protected:
  static std::string said(const std::vector<LayerBlob>& layers, KeptLayers* kept) {
    sbom::DatabaseFiles databases;
    try {
      auto files = evidence::read_layers(layers, {1, nullptr, &databases, kept, {}});
      evidence::Declaration declared;
      declared.target = "x86_64_v3";
      const auto found = evidence::judge(files, declared, testing::cpus());
      return evidence::to_table(found, true) +
             to_json(found, true).dump(-1, ' ', false, Json::error_handler_t::replace) +
             sbom::to_json(sbom::read_inventory(files.tree, databases)).dump();
    } catch (const Error& error) {
      return error.format();
    }
  }
  LayerBlob layer_of(const std::string& tar) {
    const Digest digest = Digest::of(tar);
    return {folder.write(digest.hex(), tar),
            {std::string(media_type::kLayerTar), digest, tar.size(), {}},
            digest};
  }
};

TEST_F(KeptLayersOfRandomImages, SayTheSameThroughExtracts) {
  constexpr unsigned kSeed = 20261122;
  RandomLayers random(kSeed);
  std::vector<LayerBlob> pool;
  for (int i = 0; i < 60; ++i) pool.push_back(layer_of(random.layer()));
  CacheFolder cache(folder / "evidence", findings_version(), files);
  KeptLayers kept(cache, 1, nullptr);
  int refused = 0;
  constexpr int kImages = 300;
  for (int i = 0; i < kImages; ++i) {
    std::vector<LayerBlob> layers;
    for (std::size_t left = random.below(4) + 1; left > 0; --left)
      layers.push_back(pool[random.below(pool.size())]);
    const std::string direct = said(layers, nullptr);
    ASSERT_EQ(said(layers, &kept), direct) << "image " << i << " of seed " << kSeed;
    refused += direct.starts_with("error: ") ? 1 : 0;
  }
  EXPECT_GT(refused, kImages / 20) << "some are to be refused";
  EXPECT_LT(refused, kImages / 2) << "most are to be read";
}

}  // namespace
}  // namespace kiln
