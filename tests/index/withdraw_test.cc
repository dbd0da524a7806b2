// Images that a matrix lacks by now, images that are withdrawn, and measurements of equal bits.
#include <gtest/gtest.h>

#include "index/samples.h"
#include "registry/index/index.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::measurement_of;
using testing::MemoryFolder;
using Strings = std::vector<std::string>;

class Withdraw : public ::testing::Test {
 protected:
  // Of these bits; `content` makes other labels, and so another manifest.
  ImageRecord image(const std::string& tag, const std::string& content, char bits = 'a') {
    ImageRecord image = testing::stored_image(store, tag, content);
    image.key = std::string(64, bits);
    return image;
  }
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  // Each with its matrices, and why it is retired.
  Strings names() {
    Strings names;
    for (const IndexEntry& entry : open(Index::Mode::read).entries()) {
      std::string name = entry.image.tag;
      for (const std::string& matrix : entry.matrices) name += " " + matrix;
      names.push_back(name + (entry.retired.empty() ? "" : ": " + entry.retired));
    }
    return names;
  }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
};

// Medians of the measurements of the image with this tag.
std::vector<double> medians(const Index& index, const std::string& tag) {
  std::vector<double> medians;
  for (const IndexEntry& entry : index.entries())
    for (const Measurement& measurement : entry.measurements)
      if (entry.image.tag == tag) medians.push_back(measurement.median);
  return medians;
}

TEST_F(Withdraw, MeasurementsBelongToTheBits) {
  Index index = open();
  const ImageRecord v2 = image("v2", "for v2"), v3 = image("v3", "for v3"), other = image("x", "x", 'b');
  index.publish({v2, v3, other}, {}, kNow, "demo");
  index.record(measurement_of(v2.manifest, 100));
  EXPECT_EQ(medians(index, "v2"), std::vector<double>{100});
  EXPECT_EQ(medians(index, "v3"), std::vector<double>{100});
  EXPECT_EQ(medians(index, "x"), std::vector<double>{});
  // New labels make a new manifest of the same bits.
  index.publish({image("v2", "new labels")}, {}, kNow, "demo");
  EXPECT_EQ(medians(index, "v2"), std::vector<double>{100});
  index.recover();
  EXPECT_EQ(medians(index, "v2"), std::vector<double>{100});
}

TEST_F(Withdraw, MeasurementsAreInOrderOfTheirTime) {
  Index index = open();
  const ImageRecord v2 = image("v2", "for v2"), v3 = image("v3", "for v3");
  index.publish({v2, v3}, {}, kNow, "demo");
  Measurement late = measurement_of(v2.manifest, 200), early = measurement_of(v3.manifest, 100);
  late.taken = "2026-11-21T10:00:00Z";
  late.key = early.key = v2.key;
  index.record(late);
  index.record(early);
  EXPECT_EQ(medians(index, "v2"), (std::vector<double>{100, 200}));
}

TEST_F(Withdraw, NamesKnowTheMatricesThatPublishedThem) {
  open().publish({image("a", "1"), image("b", "2", 'b')}, {}, kNow, "demo");
  open().publish({image("b", "2", 'b')}, {}, kNow, "all");
  EXPECT_EQ(names(), (Strings{"a demo", "b all demo"}));
  EXPECT_EQ(open().publish({image("b", "2", 'b')}, {}, kNow, "all"), 2) << "nothing new";
}

TEST_F(Withdraw, WhatIsPrunedIsGoneUnlessAnotherMatrixHasIt) {
  open().publish({image("a", "1"), image("b", "2", 'b'), image("c", "3", 'c')}, {}, kNow, "demo");
  open().publish({image("b", "2", 'b')}, {}, kNow, "all");
  open().publish({image("c", "3", 'c')}, {}, kNow, "demo",
                 {{"pytorch:a", "pytorch:b", "pytorch:absent"}, {}});
  EXPECT_EQ(names(), (Strings{"b all", "c demo"}));
  Index index = open();
  index.rollback(2);
  EXPECT_EQ(names().size(), 3u) << "nothing is lost";
}

TEST_F(Withdraw, ARetiredImageStaysSoUntilItsBitsChange) {
  const ImageRecord first = image("a", "1");
  open().publish({first}, {}, kNow, "demo");
  EXPECT_EQ(open().retire({first.identity()}, "wrong", kNow), 2);
  EXPECT_EQ(open().retire({first.identity()}, "wrong", kNow), 2) << "nothing new";
  EXPECT_EQ(names(), Strings{"a demo: wrong"});
  open().publish({first}, {}, kNow, "demo");
  open().publish({image("a", "new labels"), image("b", "another name")}, {}, kNow, "demo");
  EXPECT_EQ(names(), (Strings{"a demo: wrong", "b demo: wrong"}));
  open().publish({image("a", "mended", 'b')}, {}, kNow, "demo");
  EXPECT_EQ(names(), (Strings{"a demo", "b demo: wrong"}));
}

TEST_F(Withdraw, ARetirementCanBeTakenBack) {
  const ImageRecord one = image("a", "1");
  open().publish({one}, {}, kNow, "demo");
  open().retire({one.identity()}, "wrong", kNow);
  open().retire({one.identity()}, "", kNow);
  EXPECT_EQ(names(), Strings{"a demo"});
}

TEST_F(Withdraw, SidecarsProveItAll) {
  const ImageRecord one = image("a", "1");
  open().publish({one, image("b", "2", 'b')}, {}, kNow, "demo");
  open().retire({one.identity()}, "wrong", kNow);
  const Strings before = names();
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_TRUE(open().recover().is_whole());
  EXPECT_EQ(names(), before);
}

TEST_F(Withdraw, ARetirementOutlivesARollback) {
  const ImageRecord bad = image("a", "1"), good = image("b", "2", 'b');
  open().publish({bad, good}, {}, kNow, "demo");                  // 1
  open().publish({image("a", "mended", 'c')}, {}, kNow, "demo");  // 2
  open().publish({bad}, {}, kNow, "demo");                        // 3
  EXPECT_EQ(open().retire({bad.identity()}, "wrong", kNow), 4);
  EXPECT_EQ(open().rollback(1, kNow), 5) << "1, without the images retired since";
  EXPECT_EQ(names(), (Strings{"a demo: wrong", "b demo"}));
  EXPECT_EQ(open().rollback(2), 2) << "it has nothing that is retired";
  EXPECT_EQ(names(), (Strings{"a demo", "b demo"}));
  EXPECT_EQ(open().rollback(3), 6) << "the current snapshot does not know it, and it is known";
  EXPECT_EQ(names(), (Strings{"a demo: wrong", "b demo"}));
  EXPECT_EQ(open().rollback(4), 4);
  open().retire({bad.identity()}, "", kNow);
  open().rollback(1);
  EXPECT_EQ(names(), (Strings{"a demo", "b demo"})) << "it was taken back";
}

TEST_F(Withdraw, ARetirementOutlivesOtherBitsUnderItsName) {
  const ImageRecord bad = image("a", "1");
  open().publish({bad}, {}, kNow, "demo");
  open().retire({bad.identity()}, "wrong", kNow);
  open().publish({image("a", "mended", 'b')}, {}, kNow, "demo");
  open().publish({bad}, {}, kNow, "demo");  // whose recipe went back
  EXPECT_EQ(names(), Strings{"a demo: wrong"});
}

TEST_F(Withdraw, ARetirementOutlivesItsFiles) {
  const ImageRecord bad = image("a", "1");
  open().publish({bad}, {}, kNow, "demo");
  open().retire({bad.identity()}, "wrong", kNow);
  open().publish({image("a", "mended", 'b')}, {}, kNow, "demo");
  // Of a kiln that did not write it: what tags were is known.
  std::filesystem::remove(folder.path() / "store/snapshots/retired.json");
  open().rollback(1);
  EXPECT_EQ(names(), Strings{"a demo: wrong"});
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_TRUE(open().recover().is_whole());
  open().rollback(1);
  EXPECT_EQ(names(), Strings{"a demo: wrong"});
}

TEST_F(Withdraw, ASnapshotIsHeldUntilItIsReleased) {
  open().publish({image("a", "1")}, {}, kNow, "demo");
  open().publish({image("a", "2", 'b')}, {}, kNow, "demo");
  EXPECT_FALSE(open(Index::Mode::read).held());
  open().rollback(1);
  EXPECT_TRUE(open(Index::Mode::read).held());
  EXPECT_TRUE(open().snapshots().back().held);
  EXPECT_FALSE(open().snapshots().front().held);
  // Nor does what is no publication, or the loss of the database.
  open().retire({image("a", "1").identity()}, "wrong", kNow);
  EXPECT_TRUE(open().held());
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_TRUE(open().recover().is_whole());
  EXPECT_TRUE(open().held());
  EXPECT_EQ(open().current(), 3);
  open().release();
  EXPECT_FALSE(open().held());
  EXPECT_EQ(open().current(), 3);
  open().rollback(1);
  open().publish({image("a", "3", 'c')}, {}, kNow, "demo");
  EXPECT_FALSE(open().held()) << "who publishes goes on from there";
}

TEST_F(Withdraw, TheNewestSnapshotIsNotHeld) {
  open().publish({image("a", "1")}, {}, kNow, "demo");
  open().publish({image("a", "2", 'b')}, {}, kNow, "demo");
  open().rollback(1);
  open().rollback(2);
  EXPECT_FALSE(open().held());
  open().rollback(1);
  EXPECT_EQ(open().publish({image("a", "1")}, {}, kNow, "demo"), 1) << "nothing new";
  EXPECT_FALSE(open().held());
}

TEST_F(Withdraw, AReferenceUnderEveryCode) {
  auto mapping = [](const std::string& code, const std::string& reference) {
    ImageRecord record;
    record.application = "openmpi";
    record.code = code;
    record.reference = reference;
    return record;
  };
  auto retired = [&] {
    Strings codes;
    for (const IndexEntry& entry : open(Index::Mode::read).entries())
      if (!entry.retired.empty()) codes.push_back(entry.image.code);
    return codes;
  };
  Index index = open();
  const ImageRecord bad = mapping("one", "docker://site/openmpi:3");
  testing::import_all(index, {bad, mapping("other", "docker://site/openmpi:4")});
  index.retire({bad.identity()}, "wrong results", kNow);
  testing::import_all(
      index, {mapping("two", "docker://site/openmpi:3"), mapping("three", "docker://site/openmpi:5")});
  EXPECT_EQ(retired(), (Strings{"one", "two"})) << "what it was retired for is in the image";
  index.recover();
  EXPECT_EQ(retired(), (Strings{"one", "two"}));
}

}  // namespace
}  // namespace kiln
