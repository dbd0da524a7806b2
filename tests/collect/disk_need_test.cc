#include "factory/collect/disk_need.h"

#include <gtest/gtest.h>

#include "support/small_state.h"

namespace kiln {
namespace {

KnownSizes known() {
  KnownSizes sizes;
  sizes.steps["pytorch 2.6.0 (pip)"] = {900, 1000, 5000};
  sizes.steps["pytorch"] = {900, 1000, 5000, 100, 200};
  sizes.images["pytorch"] = {3000};
  return sizes;
}

TEST(DiskNeed, TheNearestKindTells) {
  DiskNeed need = disk_need({"pytorch 2.6.0 (pip)"}, {{"pytorch", {"pytorch 2.6.0 (pip)"}}}, known());
  EXPECT_EQ(need.bytes, 1000u * 4 + 3000);
  EXPECT_EQ(need.least, 1000u + 3000);
  need = disk_need({"pytorch 2.7.0 (pip)", "pytorch 2.6.0 (pip)"}, {}, known());
  EXPECT_EQ(need.bytes, (900u + 1000) * 4) << "another version: the median of all";
  need = disk_need({}, {{"pytorch", {"pytorch 2.7.0 (pip)"}, false}, {"pytorch", {}}}, known());
  EXPECT_EQ(need.least, 900u) << "the smaller one";
}

TEST(DiskNeed, WhatNobodyMadeBeforeCountsForNothing) {
  const DiskNeed need =
      disk_need({"jax 0.5 (pip)", "pytorch 2.6.0 (pip)"}, {{"jax", {"jax 0.5 (pip)"}}}, known());
  EXPECT_EQ(need.bytes, 4000u);
  EXPECT_EQ(need.least, 0u) << "it may be small";
  EXPECT_EQ(need.unknown, 2u);
  EXPECT_EQ(need.known, 1u);
  EXPECT_EQ(disk_need({}, {}, known()).least, 0u);
}

TEST(DiskNeed, RecordsTellWhatWasWritten) {
  testing::SmallState small;
  small.build();
  const KnownSizes sizes = known_sizes(small.state, small.files);
  ASSERT_TRUE(sizes.steps.contains("hello 1 (distro)"));
  ASSERT_TRUE(sizes.steps.contains("debian"));
  EXPECT_EQ(sizes.steps.at("hello").size(), 2u);
  EXPECT_GT(sizes.steps.at("hello").front(), 0u);
  EXPECT_EQ(sizes.images.at("hello").size(), 2u);
  small.files.write(small.state.step(std::string(64, 'f')), "{");
  EXPECT_EQ(known_sizes(small.state, small.files).steps.at("hello").size(), 2u)
      << "damage counts for nothing";
}

}  // namespace
}  // namespace kiln
