// Mappings of images that kiln has not built, in the index.
#include "index/index_fixture.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::import_all;
using testing::kNow;
using testing::visible;

class MappingsOfIndex : public testing::IndexTest {};

TEST_F(MappingsOfIndex, AMappingIsNoImageOfOurs) {
  Index index = open();
  ImageRecord mapping;
  mapping.code = "a";
  mapping.reference = "docker://a";
  ImageRecord without_reference = mapping;
  without_reference.reference = "";
  ImageRecord ours = mapping;
  ours.manifest = Digest::of("manifest");
  for (const auto& wrong : {without_reference, ours}) {
    EXPECT_TRUE(error_of([&] {
                  import_all(index, {mapping, wrong});
                })
                    .message()
                    .ends_with("it needs a reference and a code, and no manifest"));
  }
  ImageRecord second = mapping;
  second.code = "b";
  EXPECT_EQ(import_all(index, {mapping, second}).snapshot, 1);
  EXPECT_EQ(index.snapshots()[0].note, "2 imported mappings");
}

TEST_F(MappingsOfIndex, TheNewestMappingOfACodeWins) {
  Index index = open();
  ImageRecord mapping;
  mapping.code = "openmpi-3";
  mapping.application = "openmpi";
  mapping.version = Version("3.1.3");
  mapping.reference = "docker://ethcscs/openmpi:3.1.3";
  EXPECT_EQ(import_all(index, {mapping}).snapshot, 1);
  EXPECT_EQ(index.snapshots()[0].note, "1 imported mapping");
  mapping.reference = "docker://modakopt/modak:openmpi";
  EXPECT_EQ(import_all(index, {mapping}).snapshot, 2);
  EXPECT_EQ(import_all(index, {mapping}).snapshot, 2) << "nothing is new";
  index.publish({image("a", "one")}, {}, kNow, "");
  auto entries = index.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].image.name(), "docker://modakopt/modak:openmpi");
  EXPECT_EQ(index.entries(1).at(0).image.name(), "docker://ethcscs/openmpi:3.1.3");
  mapping.code.clear();
  EXPECT_EQ(
      error_of([&] { import_all(index, {mapping}); }).message(),
      "cannot import 'docker://modakopt/modak:openmpi': it needs a reference and a code, and no manifest");
}

TEST_F(MappingsOfIndex, OfMappingsWithOneCodeTheLastIsKept) {
  Index index = open();
  ImageRecord one, other, last;
  one.code = last.code = "a";
  other.code = "b";
  one.reference = "docker://one";
  other.reference = "docker://other";
  last.reference = "docker://last";
  const Index::Imported done = import_all(index, {one, other, last});
  EXPECT_EQ(done.mappings, 2u);
  EXPECT_EQ(index.snapshots()[0].note, "2 imported mappings");
  const auto entries = index.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].image.name(), "docker://last");
  EXPECT_EQ(entries[1].image.name(), "docker://other");
  EXPECT_EQ(store.records().size(), 2u) << "nothing is kept of the one that nobody can ask for";
  EXPECT_EQ(import_all(index, {one, other, last}).snapshot, done.snapshot) << "nothing is new";
  EXPECT_EQ(store.records().size(), 2u);
  EXPECT_EQ(index.recover().rewritten, 0u);
  EXPECT_EQ(import_all(index, {one, last, other, one}).snapshot, done.snapshot + 1);
  EXPECT_EQ(index.entries().at(0).image.name(), "docker://one");
}

// They may come from a pipe, and cannot be asked for twice.
TEST_F(MappingsOfIndex, AnImportThatMeetsDamageMendsItAndSaysSo) {
  ImageRecord mapping;
  mapping.code = "a";
  mapping.reference = "docker://a";
  {
    Index index = open();
    import_all(index, {mapping});
  }
  sql("UPDATE tags SET stale = 1");
  mapping.reference = "docker://b";
  Index index = open();
  EXPECT_EQ(error_of([&] { import_all(index, {mapping}); }).message(),
            "the index was damaged and has been made again; nothing is imported");
  EXPECT_EQ(index.entries().at(0).image.reference, "docker://a");
  EXPECT_EQ(import_all(index, {mapping}).snapshot, 2);
}

TEST_F(MappingsOfIndex, AMappingThatIsWrongTakesAllBeforeItWithIt) {
  Index index = open();
  ImageRecord mapping;
  mapping.code = "kept";
  mapping.reference = "docker://kept";
  import_all(index, {mapping});
  const std::string before = visible(index);
  auto give = [&](const Index::AddMapping& take) {
    for (int i = 0; i < 100; ++i) {
      mapping.code = "code-" + std::to_string(i);
      take(mapping);
    }
    throw Error(ExitCode::input, "the last row is wrong");
  };
  EXPECT_EQ(error_of([&] { index.import_mappings(give, kNow); }).message(), "the last row is wrong");
  EXPECT_EQ(visible(index), before);
  EXPECT_EQ(store.records().size(), 1u);
  EXPECT_EQ(store.sidecars(BlobStore::Sidecar::snapshot), (std::vector<std::string>{"1", "current"}));
  EXPECT_TRUE(index.recover().is_whole());
  EXPECT_EQ(visible(index), before);
}

}  // namespace
}  // namespace kiln
