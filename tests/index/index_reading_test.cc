#include "index/index_fixture.h"
#include "registry/index/index.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::IndexTest;
using testing::kNow;
using testing::measurement_of;

TEST_F(IndexTest, ReadsNoRecordOfAnImageThatIsNotMeasured) {
  const auto measured = image("a", "one");
  Index index = open();
  index.publish({measured, image("b", "two")}, {}, kNow, "");
  EXPECT_TRUE(index.measured_entries().empty());
  index.record(measurement_of(measured.manifest, 300));
  const auto entries = index.measured_entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].image.name(), "pytorch:a");
  EXPECT_EQ(entries[0].measurements.size(), 1u);
  sql("UPDATE images SET record = '{' WHERE measured = ''");
  EXPECT_EQ(open(Index::Mode::read).measured_entries().size(), 1u);
}

TEST_F(IndexTest, ProvesItselfWithoutParsing) {
  Index index = open();
  index.publish({image("a", "one"), image("b", "two")}, {}, kNow, "");
  open(Index::Mode::read).prove();
  sql("UPDATE tags SET stale = 1");
  EXPECT_TRUE(
      error_of([&] { open(Index::Mode::read).prove(); }).message().starts_with("the index is damaged: "));
  open().prove();
  EXPECT_EQ(open(Index::Mode::read).entries().size(), 2u) << "who may write mends it";
}

}  // namespace
}  // namespace kiln
