// What kiln keeps of a layer is read by later versions of kiln as if it was found anew. So a change of the
// scanner that changes the findings in this layer must change findings_version().
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/package/kept_findings.h"
#include "package/packed_image.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

constexpr const char* kGoldenFile = KILN_TEST_DATA "/golden/findings.txt";

class FindingsVersion : public testing::PackedImage {
 protected:
  static std::string data(const std::string& name) {
    return RealFileSystem().read(fs::path(KILN_TEST_DATA) / name).value();
  }
  // The digest of what is kept of each file of the layer.
  std::string extracts_of(const std::string& tar) {
    const Digest digest = Digest::of(tar);
    const evidence::LayerBlob layer{
        folder.write("layer", tar), {std::string(media_type::kLayerTar), digest, tar.size(), {}}, digest};
    CacheFolder cache(folder / "evidence", findings_version(), files);
    const auto entries = KeptLayers(cache, 1, nullptr).open(layer);
    Hasher hasher;
    for (LayerEntry entry; entries->next(entry);)
      hasher.update(fmt::format("{}\n{}\n", entry.path, entries->extract().value_or("")));
    return hasher.finish().hex();
  }
};

// After a wanted change: increase kFindings of factory/package/kept_findings.cc, then write the file again
// with KILN_UPDATE_GOLDEN=1.
TEST_F(FindingsVersion, ChangesWithTheFindings) {
  const std::string found = extracts_of(short_tar(
      {"f etc/os-release=ID=debian\n", "f opt/lib/libwide.so.1=" + data("evidence/wide.so"),
       "f opt/gpu=" + data("evidence/cuda_100f.fatbin"), "f var/lib/dpkg/status=" + data("sbom/dpkg-status"),
       "f var/lib/dpkg/info/zlib1g.list=/.\n/usr/lib/x.dist-info/METADATA\n",
       "f usr/share/doc/zlib1g/copyright=" + data("sbom/copyright-zlib1g"),
       "f lib/apk/db/installed=" + data("sbom/apk-installed"),
       "f var/lib/rpm/rpmdb.sqlite=" + data("sbom/rpmdb.sqlite"),
       "f opt/conda/conda-meta/x.json=" + data("sbom/conda-meta.json"),
       "f usr/lib/x.dist-info/METADATA=" + data("sbom/METADATA-PyYAML")}));
  const std::string golden = RealFileSystem().read(kGoldenFile).value_or("");
  if (golden.starts_with(findings_version() + "\n")) {
    ASSERT_EQ(golden, fmt::format("{}\n{}\n", findings_version(), found))
        << "the scanner finds something else: increase kFindings";
  }
  testing::expect_golden(fmt::format("{}\n{}\n", findings_version(), found), kGoldenFile);
}

}  // namespace
}  // namespace kiln
