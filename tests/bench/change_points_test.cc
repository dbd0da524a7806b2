#include "factory/bench/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace kiln {
namespace {

// What is expected here are the answers of apache-otava 0.8.0 to the same series:
// `compute_change_points(series, window_len=50, max_pvalue=0.001, min_magnitude=0.0)`.
// tests/oracle/change_points.py asks it about hundreds more.
struct Expected {
  std::size_t index;
  double p, before, after, change;
  bool suspected;  // kiln's own
};

void expect_points(const std::vector<double>& series, const std::vector<Expected>& expected) {
  std::vector<ChangePoint> points = find_change_points(series);
  ASSERT_EQ(points.size(), expected.size());
  for (std::size_t number = 0; number < points.size(); ++number) {
    const ChangePoint& point = points[number];
    const Expected& wanted = expected[number];
    EXPECT_EQ(point.index, wanted.index);
    EXPECT_NEAR(point.levels.p, wanted.p, wanted.p * 1e-9);
    EXPECT_DOUBLE_EQ(point.levels.before, wanted.before);
    EXPECT_DOUBLE_EQ(point.levels.after, wanted.after);
    EXPECT_NEAR(point.levels.change(), wanted.change, 1e-12);
    EXPECT_EQ(point.suspected, wanted.suspected) << wanted.index;
  }
}

// Seconds of ten nights.
const std::vector<double> kNights = {412, 409, 415, 411, 408, 413, 410, 414, 409, 412};

std::vector<double> joined(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<double> nights(std::size_t count) {
  std::vector<double> found;
  for (std::size_t night = 0; night < count; ++night) found.push_back(kNights[night % kNights.size()]);
  return found;
}

TEST(ChangePoints, OfOtavasOwnExample) {
  expect_points({10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03},
                {{6, 4.985262183171655e-06, 10.481666666666667, 9.125, -0.12943234218476707, false}});
  expect_points({154023, 138455, 143112, 149190, 132098, 151344, 155145, 148889, 149466, 148209}, {});
}

TEST(ChangePoints, ANewLevelIsSuspectedUntilThreeNightsFollow) {
  const std::vector<double> slower = {431, 433, 429, 434, 430};
  expect_points(joined(kNights, slower),
                {{10, 2.007674247877055e-10, 411.3, 431.4, 0.04886943836615609, false}});
  expect_points(joined(kNights, {431}),
                {{10, 1.2787925272255886e-05, 411.3, 431, 0.047896912229516087, true}});
  for (std::size_t count = 1; count <= slower.size(); ++count) {
    std::vector<ChangePoint> points =
        find_change_points(joined(kNights, {slower.begin(), slower.begin() + static_cast<long>(count)}));
    ASSERT_EQ(points.size(), 1U) << count;
    EXPECT_EQ(points[0].index, 10U);
    EXPECT_EQ(points[0].suspected, count <= 3) << count;
  }
}

TEST(ChangePoints, OneNightOutOfLineIsNeverMoreThanSuspected) {
  std::vector<double> series = joined(nights(20), {475});
  expect_points(series, {{20, 5.202251803012832e-17, 411.3, 475, 0.15487478725990766, true}});
  // Otava still names it, with the level of that night alone.
  expect_points(joined(series, {412, 409, 415}),
                {{20, 5.202251803012832e-17, 411.3, 475, 0.15487478725990766, true}});
  // Three more nights that are a little slower would bear it out, were that night one of them.
  expect_points(joined(nights(30), {420, 415, 414, 416}),
                {{30, 0.00018556219024140998, 411.3, 416.25, 0.012035010940919078, true}});
  for (double night : nights(20)) {
    series.push_back(night);
    for (const ChangePoint& point : find_change_points(series))
      EXPECT_TRUE(point.suspected) << series.size() << " at " << point.index;
  }
}

// Neither a level that lasts three nights, nor, after it, the old one again.
TEST(ChangePoints, AShortLevelIsSuspectedAndWhatFollowsIsComparedWithTheOneBefore) {
  std::vector<double> spike = joined(nights(20), {475, 474, 476});
  auto suspected = [](const std::vector<double>& series) {
    std::vector<std::pair<std::size_t, bool>> found;
    for (const ChangePoint& point : find_change_points(series))
      found.emplace_back(point.index, point.suspected);
    return found;
  };
  using Points = std::vector<std::pair<std::size_t, bool>>;
  EXPECT_EQ(suspected(joined(spike, nights(6))), (Points{{20, true}, {23, true}}));
  EXPECT_EQ(suspected(joined(spike, nights(10))), Points{});
  EXPECT_EQ(suspected(joined(spike, {350, 352, 349, 351, 350})), (Points{{20, true}, {23, false}}));
  EXPECT_EQ(suspected(joined(joined(spike, {475}), nights(10))), (Points{{20, false}, {24, false}}));
}

TEST(ChangePoints, OfSeriesLongerThanAWindow) {
  std::vector<double> series = nights(20);
  for (double night : nights(20)) series.push_back(night * 1.1);
  for (double night : nights(30)) series.push_back(night * 0.9);
  expect_points(series, {{20, 2.993660648608532e-38, 411.3, 452.43, 0.1, false},
                         {40, 3.867527457781633e-63, 452.43, 370.17, -0.18181818181818166, false}});
  series = nights(130);
  for (std::size_t night = 75; night < series.size(); ++night) series[night] += 30;
  expect_points(series, {{75, 3.343612530345901e-109, 411.28, 441.3272727272727, 0.0730579476932327, false}});
}

TEST(ChangePoints, OfWhatDoesNotVary) {
  expect_points({1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, {{5, 0, 1, 2, 1, false}});
  expect_points(std::vector<double>(60, 0.1), {});
  expect_points({0, 0, 0, 0, 0, 0, 5.0, 5.1, 5.0, 4.9, 5.0}, {{6, 1.2005879613805687e-17, 0, 5, 0, false}});
}

// Up and the same down again: the first of two splits that are as good.
TEST(ChangePoints, OfEqualsTheFirst) {
  std::vector<double> up = {2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 8, 8, 8};
  std::vector<double> down(up.rbegin(), up.rend());
  expect_points(joined(up, down), {{6, 1.1718787209682343e-06, 2.0, 6.125, 2.0625, false},
                                   {22, 1.1718787209682343e-06, 6.125, 2.0, -0.6734693877551021, false}});
}

TEST(ChangePoints, OfTooFewValues) {
  expect_points({}, {});
  expect_points({3}, {});
  expect_points({1, 9}, {});
  expect_points({1, 1, 9}, {{2, 0, 1, 9, 8, true}});
}

TEST(ChangePoints, LimitsHoldSmallAndLikelyOnesBack) {
  std::vector<double> series = joined(kNights, {431, 433, 429, 434, 430});
  EXPECT_EQ(find_change_points(series, {.magnitude = 0.04}).size(), 1U);
  EXPECT_EQ(find_change_points(series, {.magnitude = 0.05}).size(), 0U);
  EXPECT_EQ(find_change_points(std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2}, {.magnitude = 1}).size(), 0U);
  EXPECT_EQ(find_change_points(series, {.p = 1e-9}).size(), 1U);
  EXPECT_EQ(find_change_points(series, {.p = 1e-10}).size(), 0U);
  EXPECT_EQ(find_change_points(series, {.window = 1}).size(), 0U);
}

// By SciPy 1.16.3: ttest_ind_from_stats(mean, std, n, …) of numpy's mean and std.
TEST(CompareLevels, GivesThePOfStudentsTest) {
  auto p = [](std::vector<double> before, std::vector<double> after) {
    return compare_levels(before, after).p;
  };
  EXPECT_DOUBLE_EQ(p({1}, {2}), 1);
  EXPECT_TRUE(std::isnan(p({1, 1}, {1})));
  EXPECT_DOUBLE_EQ(p({1, 1}, {2}), 0);
  EXPECT_NEAR(p({1, 2, 3}, {2, 3, 4}), 0.20799999999999982, 1e-12);
  EXPECT_NEAR(p({1, 2}, {1, 4, 9, 16}), 0.23219738893168115, 1e-12);
  EXPECT_NEAR(p(joined(nights(70), {411}), joined(nights(70), {411.001})), 0.9999693118322581, 1e-12);
  EXPECT_NEAR(p({1, 5}, {3}), 1.0, 1e-12);
}

TEST(TwoLevels, HaveAChangeAndAMagnitude) {
  auto levels = [](double before, double after) { return TwoLevels{before, after, 0}; };
  EXPECT_DOUBLE_EQ(levels(100, 50).change(), -0.5);
  EXPECT_DOUBLE_EQ(levels(100, 50).magnitude(), 1);
  EXPECT_DOUBLE_EQ(levels(0, 50).change(), 0);
  EXPECT_DOUBLE_EQ(levels(0, 50).magnitude(), 1);
  EXPECT_DOUBLE_EQ(levels(0, 0).magnitude(), 0);
}

}  // namespace
}  // namespace kiln
