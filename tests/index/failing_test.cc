// Bits that fail a test of today: marked in the index under every name, and selected by nobody who does not
// ask for them.
#include "index/samples.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::MemoryFolder;
using testing::stored_image;

class FailingTest : public ::testing::Test {
 protected:
  ImageRecord image_of(const std::string& tag, const std::string& content, char key) {
    ImageRecord record = stored_image(store, tag, content);
    record.key = std::string(64, key);
    return record;
  }
  FailingImage fails(const std::string& tag, char key) const {
    return {"pytorch:" + tag, std::string(64, key)};
  }
  Index open(Index::Mode mode = Index::Mode::write) const { return Index::open(folder.path(), mode); }
  std::string states(const Index& index) const {
    std::string all;
    for (const IndexEntry& entry : index.entries())
      all += (all.empty() ? "" : ", ") + entry.image.tag + (entry.stale ? " stale" : "") +
             (entry.failing ? " failing" : "");
    return all;
  }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
};

TEST_F(FailingTest, BitsAreMarkedUnderEveryName) {
  Index index = open();
  index.publish({image_of("a", "one", '1'), image_of("b", "two", '1'), image_of("c", "three", '3')}, {}, kNow,
                "");
  EXPECT_EQ(index.publish({}, {}, kNow, "", {{}, {fails("a", '1')}}), 2);
  EXPECT_EQ(states(index), "a failing, b failing, c");
  EXPECT_EQ(index.publish({}, {}, kNow, "", {{}, {fails("a", '1')}}), 2) << "nothing new";
  index.publish({image_of("a", "one", '1')}, {}, kNow, "");
  EXPECT_EQ(states(index), "a, b failing, c");
}

TEST_F(FailingTest, OtherBitsUnderItsNameAreAnEarlierImage) {
  Index index = open();
  index.publish({image_of("a", "one", '1')}, {}, kNow, "");
  index.publish({}, {}, kNow, "", {{}, {fails("a", '2'), fails("new", '3')}});
  EXPECT_EQ(states(index), "a stale");
  index.publish({}, {}, kNow, "", {{}, {fails("a", '1')}});
  EXPECT_EQ(states(index), "a failing");
  index.publish({}, {"pytorch:a"}, kNow, "");
  EXPECT_EQ(states(index), "a stale failing") << "and its rebuild failed";
}

TEST_F(FailingTest, ItIsThereAfterRecovery) {
  {
    Index index = open();
    index.publish({image_of("a", "one", '1'), image_of("b", "two", '2')}, {}, kNow, "");
    index.publish({}, {"pytorch:b"}, kNow, "", {{}, {fails("a", '1'), fails("b", '2')}});
    index.publish({}, {"pytorch:b"}, kNow, "");
  }
  EXPECT_EQ(states(open(Index::Mode::read)), "a failing, b stale failing");
  fs::remove(folder.path() / "index.db");
  EXPECT_EQ(states(open()), "a failing, b stale failing");
  open().rollback(1);
  EXPECT_EQ(states(open(Index::Mode::read)), "a, b");
}

TEST(Failing, IsNotSelectedUnlessAllowed) {
  std::vector<IndexEntry> entries = {testing::measured(testing::image("failing"), 10),
                                     testing::image("whole")};
  entries[0].failing = true;
  ImageQuery asked = testing::query();
  auto select = [&] { return select_image(asked, entries, {}, testing::archspec()); };
  EXPECT_EQ(select().winner->entry->image.tag, "whole");
  EXPECT_NE(explain(select()).find(
                "failing: it fails a test that its recipe has by now (--allow-failing takes it)"),
            std::string::npos)
      << explain(select());
  EXPECT_EQ(to_json(select())["others"][0]["failing"], true);
  asked.allow_failing = true;
  EXPECT_EQ(select().winner->entry->image.tag, "failing");
  EXPECT_NE(explain(select()).find("failing: it fails a test"), std::string::npos);
  entries.pop_back();
  asked.allow_failing = false;
  EXPECT_FALSE(select().winner);
  EXPECT_NE(select().nearest_miss.find("--allow-failing"), std::string::npos);
}

}  // namespace
}  // namespace kiln
