#include "factory/app/collection.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using std::chrono::hours;

Retention site_retention() {
  Retention retention;
  retention.keep_for = hours(48);
  retention.keep_steps_for = hours(24);
  retention.keep_snapshots = 5;
  retention.keep = {"hello:*"};
  return retention;
}

TEST(RetentionOf, IsTheSitesWhereTheCommandLineIsSilent) {
  const Retention retention = retention_of(site_retention(), {});
  EXPECT_EQ(retention.keep_for, hours(48));
  EXPECT_EQ(retention.keep_steps_for, hours(24));
  EXPECT_EQ(retention.keep_snapshots, 5);
  EXPECT_EQ(retention.keep, std::vector<std::string>{"hello:*"});
}

TEST(RetentionOf, TakesAgesAndNumbersFromTheCommandLineAndKeepsMore) {
  const Retention retention = retention_of(site_retention(), {hours(0), hours(1), 2, {"12"}});
  EXPECT_EQ(retention.keep_for, hours(0)) << "0 is an age, too";
  EXPECT_EQ(retention.keep_steps_for, hours(1));
  EXPECT_EQ(retention.keep_snapshots, 2);
  EXPECT_EQ(retention.keep, (std::vector<std::string>{"hello:*", "12"}));
}

TEST(NightlyCollection, IsDueOnAFullDiskInARegistryAndAfterChanges) {
  EXPECT_TRUE(collects_tonight(true, false, false));
  EXPECT_TRUE(collects_tonight(false, true, false));
  EXPECT_TRUE(collects_tonight(false, false, true));
  EXPECT_FALSE(collects_tonight(false, false, false));
}

TEST(NearlyFull, IsADiskWithLessThan256MiB) {
  EXPECT_TRUE(is_nearly_full(0));
  EXPECT_TRUE(is_nearly_full((256u << 20) - 1));
  EXPECT_FALSE(is_nearly_full(256u << 20));
}

Garbage garbage(GarbageKind kind, const std::string& why, std::uint64_t bytes) {
  Garbage one;
  one.kind = kind;
  one.why = why;
  one.bytes = bytes;
  return one;
}

TEST(GarbageGroups, CountWhatHasOneKindAndOneReason) {
  const std::vector<GarbageGroup> groups =
      groups_of({garbage(GarbageKind::blob, "no image has it", 5), garbage(GarbageKind::step, "old", 1),
                 garbage(GarbageKind::step, "failed", 2), garbage(GarbageKind::step, "old", 3)});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].kind, GarbageKind::step);
  EXPECT_EQ(groups[0].why, "failed");
  EXPECT_EQ(groups[0].count, 1u);
  EXPECT_EQ(groups[1].why, "old");
  EXPECT_EQ(groups[1].count, 2u);
  EXPECT_EQ(groups[1].bytes, 4u);
  EXPECT_EQ(groups[2].kind, GarbageKind::blob) << "by kind first";
  EXPECT_EQ(groups[2].bytes, 5u);
}

TEST(CollectedText, CountsThingsAndBytes) {
  EXPECT_EQ(collected_text({}), "");
  EXPECT_EQ(collected_text({garbage(GarbageKind::log, "", 1'500'000)}), "1 thing collected, 1.5 MB");
  EXPECT_EQ(
      collected_text({garbage(GarbageKind::log, "", 2'000'000), garbage(GarbageKind::blob, "", 1'000'000)}),
      "2 things collected, 3.0 MB");
}

TEST(AnErrorInTheRegistry, LeavesWhatIsThereOutOfTheReport) {
  std::vector<Garbage> found;
  for (GarbageKind kind : {GarbageKind::engine, GarbageKind::pushed_tag, GarbageKind::pushed_index,
                           GarbageKind::pushed_image, GarbageKind::snapshot})
    found.push_back(garbage(kind, "", 1));
  leave_registry_out(found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, GarbageKind::engine);
  EXPECT_EQ(found[1].kind, GarbageKind::snapshot);
  EXPECT_EQ(bytes_of(found), 2u);
}

}  // namespace
}  // namespace kiln
