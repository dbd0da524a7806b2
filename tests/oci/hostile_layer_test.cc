// What a layer may make kiln remember is bounded by what it cost to send.
#include <gtest/gtest.h>

#include "factory/oci/layer_merge.h"
#include "support/merged.h"

namespace kiln {
namespace {

using testing::tar;
using testing::TarEntry;
using testing::TestLayers;

std::string refusal_of(const std::vector<TarEntry>& entries, const LayerLimits& limits = {}) {
  try {
    testing::merge(TestLayers({tar(entries)}), {}, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "accepted";
}

std::string nested(int depth, const std::string& name = "a") {
  std::string path;
  for (int i = 0; i < depth; ++i) path += name + "/";
  return path;
}

// A layer as small as gzip makes these: what is not said of memory goes by the layer's size.
LayerLimits of_a_small_layer() { return {.tree_bytes = 32u << 20, .tree_ratio = 1}; }

TEST(HostileLayer, FoldersNestedByTheThousand) {
  std::vector<TarEntry> entries;
  for (int i = 0; i < 600; ++i) entries.push_back({std::to_string(i) + "/" + nested(1000) + "f"});
  EXPECT_NE(refusal_of(entries).find("the names and attributes of the image's files take over"),
            std::string::npos);
}

TEST(HostileLayer, TargetsOfHardLinksAreNamesToo) {
  std::vector<TarEntry> entries{{"t"}};
  for (int i = 0; i < 600; ++i)
    entries.push_back({std::to_string(i), '1', "", std::to_string(i) + "/" + nested(1000) + "f"});
  EXPECT_NE(refusal_of(entries).find("take over"), std::string::npos);
}

TEST(HostileLayer, FoldersThatSymbolicLinksLeadTo) {
  std::vector<TarEntry> entries;
  for (int i = 0; i < 300; ++i) {
    const std::string folder = std::to_string(i);
    entries.push_back({folder, '5'});
    entries.push_back({folder + "/s", '2', "", nested(1000)});
    entries.push_back({folder + "/s/f"});
  }
  EXPECT_NE(refusal_of(entries).find("take over"), std::string::npos);
}

TEST(HostileLayer, SymbolicLinksThatAreWalkedAgainAndAgain) {
  std::vector<TarEntry> entries{{"s", '2', "", nested(1000)}};
  for (int i = 0; i < 5000; ++i) entries.push_back({"s/f"});
  EXPECT_NE(refusal_of(entries).find("leads through too many symbolic links, with those before it"),
            std::string::npos);
}

TEST(HostileLayer, AttributesOfAFewBytesEach) {
  std::string bytes;
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::pair<std::string, std::string>> records;
    for (int j = 0; j < 128; ++j)
      records.emplace_back("SCHILY.xattr.user." + std::to_string(j), std::to_string(i));
    bytes += testing::pax_header(records) + testing::tar_entry({std::to_string(i)});
  }
  EXPECT_THROW(testing::merge(TestLayers({bytes + testing::tar_end()}), {}, of_a_small_layer()), Error);
}

TEST(HostileLayer, PathsHaveAnEnd) {
  EXPECT_NE(refusal_of({{nested(1025) + "f"}}).find("folders are nested deeper than 1024"),
            std::string::npos);
  const std::string long_name(250, 'n');
  EXPECT_EQ(refusal_of({{"s", '2', "", nested(10, long_name)}, {"s/f"}}), "accepted");
  EXPECT_NE(refusal_of({{"s", '2', "", nested(16, long_name)}, {"s/" + nested(2, long_name) + "f"}})
                .find("a path is longer than 4096 bytes"),
            std::string::npos);
}

// 131,072 files are all that fit in the 64 MiB that are not measured against the layer's size.
TEST(HostileLayer, ManyPlainFilesAreNotHostile) {
  std::vector<TarEntry> entries;
  for (int i = 0; i < 20'000; ++i)
    entries.push_back({"usr/lib/python3/dist-packages/some/package/f" + std::to_string(i)});
  EXPECT_EQ(refusal_of(entries, of_a_small_layer()), "accepted");
}

// Lists of access rights are compared one with another by some who read them: 100,000 took libarchive
// minutes.
TEST(HostileLayer, RecordsWithoutAUseCostNothing) {
  std::string rights;
  for (int i = 0; i < 100'000; ++i) rights += "u:" + std::to_string(i) + ":r,";
  std::string bytes = testing::pax_header({{"SCHILY.acl.access", rights}});
  EXPECT_EQ(testing::merge(TestLayers({bytes + testing::tar_entry({"a"}) + testing::tar_end()})).files.size(),
            1u);
}

// GNU sparse 1.0 writes its map into the content, two numbers a region; GNU's own into blocks of 21 regions.
TEST(HostileLayer, SparseMapsHaveAnEnd) {
  std::string map = "1000000\n";
  for (int i = 0; i < 1'000'000; ++i) map += "0\n0\n";
  const auto version = testing::pax_header({{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}});
  const std::string bytes =
      version + testing::tar_header({"s"}, map.size()) + testing::padded(map) + testing::tar_end();
  try {
    testing::merge(TestLayers({bytes}));
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "entry #1 's': has more than 65536 sparse regions");
  }
}

}  // namespace
}  // namespace kiln
