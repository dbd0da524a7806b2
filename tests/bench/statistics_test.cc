#include "factory/bench/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "factory/base/median.h"

namespace kiln {
namespace {

TEST(Summary, QuartilesInterpolate) {
  Summary odd = summarise({5, 1, 3, 2, 4});
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.low, 2);
  EXPECT_DOUBLE_EQ(odd.high, 4);
  Summary even = summarise({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.low, 1.75);
  EXPECT_DOUBLE_EQ(even.high, 3.25);
  Summary one = summarise({7});
  EXPECT_DOUBLE_EQ(one.low, 7);
  EXPECT_DOUBLE_EQ(one.high, 7);
}

// `count` values around `centre`, as far from it as `spread` says: the same for each seed everywhere.
std::vector<double> around(double centre, double spread, int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(centre * (1 + spread * (static_cast<double>(random() % 2001) / 1000 - 1)));
  return values;
}

std::vector<double> then(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Summary, AMedianOfAnEvenNumberIsBetweenTwo) {
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of({9, 1, 3}), 3);
}

TEST(WarmUp, SlowFirstStepsAreFound) {
  const std::vector<double> steady = around(100, 0.02, 30, 1);
  EXPECT_EQ(find_warm_up(steady).length, 0u);
  EXPECT_EQ(find_warm_up(then({400}, steady)).length, 1u);
  EXPECT_EQ(find_warm_up(then({900, 500, 130}, steady)).length, 3u);
  EXPECT_EQ(find_warm_up(then(around(150, 0.02, 10, 2), steady)).length, 10u);
  EXPECT_TRUE(find_warm_up(then({900, 500, 130}, steady)).settled);
}

TEST(WarmUp, ADisturbanceIsNone) {
  const std::vector<double> steady = around(100, 0.02, 30, 1);
  EXPECT_EQ(find_warm_up(then(steady, {400})).length, 0u) << "one slow step at the end";
  EXPECT_EQ(find_warm_up(then(then(steady, around(150, 0.02, 10, 2)), steady)).length, 0u)
      << "slower for a while, and back";
  EXPECT_EQ(find_warm_up(then(around(103, 0.005, 20, 2), around(100, 0.005, 20, 3))).length, 0u)
      << "three per cent";
}

TEST(WarmUp, ARunThatChangesLateHasNotSettled) {
  const WarmUp warm_up = find_warm_up(then(around(100, 0.02, 30, 1), around(60, 0.02, 12, 2)));
  EXPECT_EQ(warm_up.length, 30u);
  EXPECT_FALSE(warm_up.settled);
}

TEST(WarmUp, FewSamplesAreTakenAsTheyAre) {
  EXPECT_EQ(find_warm_up(std::vector<double>{7}).length, 0u);
  EXPECT_EQ(find_warm_up(std::vector<double>{7, 5}).length, 0u);
  EXPECT_EQ(find_warm_up(std::vector<double>{5, 5, 5, 5}).length, 0u);
  EXPECT_TRUE(find_warm_up(std::vector<double>{5, 5, 5, 5}).settled);
}

TEST(Comparison, OfTheSameIsNoDifference) {
  const SteadyRuns a = {around(100, 0.03, 40, 1), around(100, 0.03, 40, 2), around(100, 0.03, 40, 3)};
  const SteadyRuns b = {around(100, 0.03, 40, 4), around(100, 0.03, 40, 5), around(100, 0.03, 40, 6)};
  const Comparison found = compare_runs(a, b, false);
  EXPECT_FALSE(found.different()) << found.low << " to " << found.high;
  EXPECT_LE(found.low, found.ratio);
  EXPECT_LE(found.ratio, found.high);
}

TEST(Comparison, TwiceAsFastIsTwo) {
  const SteadyRuns a = {around(100, 0.03, 40, 1), around(100, 0.03, 40, 2)};
  const SteadyRuns b = {around(50, 0.03, 40, 3), around(50, 0.03, 40, 4)};
  const Comparison times = compare_runs(a, b, false);
  EXPECT_TRUE(times.different());
  EXPECT_NEAR(times.ratio, 2, 0.05);
  EXPECT_GT(times.low, 1.9);
  EXPECT_LT(times.high, 2.1);
  EXPECT_NEAR(compare_runs(a, b, true).ratio, 0.5, 0.02) << "of a rate, the lower one is the slower";
}

// What runs differ by counts, not only what samples of one do: that is what the hierarchy is for.
TEST(Comparison, RunsThatScatterWidenTheInterval) {
  const SteadyRuns even = {around(100, 0.01, 40, 1), around(100, 0.01, 40, 2), around(100, 0.01, 40, 3)};
  const SteadyRuns apart = {around(90, 0.01, 40, 1), around(104, 0.01, 40, 2), around(112, 0.01, 40, 3)};
  const Comparison narrow = compare_runs(even, even, false);
  const Comparison wide = compare_runs(even, apart, false);
  EXPECT_GT(wide.high - wide.low, 10 * (narrow.high - narrow.low));
  EXPECT_FALSE(wide.different()) << "104 against 100, of runs that lie 22 apart";
}

TEST(Comparison, IsTheSameEachTime) {
  const SteadyRuns a = {around(100, 0.1, 20, 1)};
  const SteadyRuns b = {around(97, 0.1, 20, 2)};
  const Comparison once = compare_runs(a, b, false);
  const Comparison again = compare_runs(a, b, false);
  EXPECT_DOUBLE_EQ(once.low, again.low);
  EXPECT_DOUBLE_EQ(once.high, again.high);
}

// Of 60 pairs from one distribution, about one in twenty is called different.
TEST(Comparison, TheIntervalHoldsWhatItSays) {
  int wrong = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    if (compare_runs({around(100, 0.1, 40, 2 * seed)}, {around(100, 0.1, 40, 2 * seed + 1)}, false)
            .different())
      ++wrong;
  EXPECT_LE(wrong, 6);
  EXPECT_GE(wrong, 1) << "an interval that always holds 1 says nothing";
}

}  // namespace
}  // namespace kiln
