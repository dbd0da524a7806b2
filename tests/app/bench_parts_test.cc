#include "factory/app/bench_parts.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(RanksOf, AreNumbersWithCommas) {
  EXPECT_EQ(ranks_of("1, 2,16"), (std::vector<int>{1, 2, 16}));
  EXPECT_EQ(ranks_of("9999"), std::vector<int>{9999});
  for (const char* wrong : {"", "0", "01", "1,", "-1", "two", "1.5", "10000"})
    EXPECT_THROW(ranks_of(wrong), Error) << wrong;
}

TEST(WorksOfRanks, AreOneForEachNumber) {
  BenchWork work;
  work.rounds = 5;
  work.wishes.steps = 9;
  const std::vector<BenchWork> works = works_of_ranks(work, "1,4");
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].wishes.ranks, 1);
  EXPECT_EQ(works[1].wishes.ranks, 4);
  EXPECT_EQ(works[1].wishes.steps, 9);
  EXPECT_EQ(works[1].rounds, 5);
  ASSERT_EQ(works_of_ranks(work, "").size(), 1u);
  EXPECT_EQ(works_of_ranks(work, "")[0].wishes.ranks, 0);
}

TEST(WorkOfASuite, HasItsOwnWishesAndTheCommandsRepeats) {
  BenchWork asked;
  asked.rounds = 5;
  asked.repeats = 4;
  asked.again = true;
  SuiteWorkload workload;
  workload.name = "mlp";
  workload.steps = 20;
  workload.ranks = 2;
  workload.data = "/data";
  BenchWork work = work_of(asked, workload);
  EXPECT_EQ(work.workload, "mlp");
  EXPECT_EQ(work.wishes, (WorkloadWishes{20, 2, "/data"}));
  EXPECT_EQ(work.rounds, 5) << "the suite says nothing of them";
  EXPECT_EQ(work.repeats, 4);
  EXPECT_TRUE(work.again);
  workload.rounds = 1;
  EXPECT_EQ(work_of(asked, workload).rounds, 1);
}

TEST(WhatFollows, IsEachLaterPartInAllOfItsImages) {
  std::vector<BenchWork> parts(3);
  parts[0].rounds = 100;
  parts[1].rounds = 2;
  parts[2].rounds = 3;
  count_what_follows(parts, {7, 5, 4});
  EXPECT_EQ(parts[0].runs_after, 22u);
  EXPECT_EQ(parts[1].runs_after, 12u);
  EXPECT_EQ(parts[2].runs_after, 0u);
}

TEST(Proving, TakesEnoughRounds) {
  BenchWork work;
  work.rounds = kProvingRounds - 1;
  EXPECT_EQ(proving(work).rounds, kProvingRounds);
  work.rounds = kProvingRounds + 1;
  EXPECT_EQ(proving(work).rounds, kProvingRounds + 1);
}

}  // namespace
}  // namespace kiln
