#include "factory/night/trends.h"

#include <gtest/gtest.h>

#include "night/night_values.h"

namespace kiln {
namespace {

// A night in which an image was built, with its time, its size and one speed.
PastNight night_with(std::int64_t number, double seconds, std::uint64_t bytes, double speed,
                     Verdict verdict = Verdict::built) {
  NightImage image = testing::night_image("a", verdict);
  image.seconds = seconds;
  image.bytes = bytes;
  if (speed > 0) image.speeds = {{"mnist, ms/step, on zen4", speed}};
  return past_of(testing::night_report(number, {image}));
}

std::vector<PastNight> nights_of(const std::vector<double>& seconds) {
  std::vector<PastNight> nights;
  for (double one : seconds)
    nights.push_back(night_with(static_cast<std::int64_t>(nights.size()) + 1, one, 1000, 0));
  return nights;
}

TEST(Trends, ALevelThatChangedIsTold) {
  const auto trends = find_trends(nights_of({100, 101, 99, 100, 102, 100, 200, 201, 199, 200}));
  ASSERT_EQ(trends.size(), 1u);
  EXPECT_EQ(trends[0].what, "seconds");
  EXPECT_EQ(trends[0].night, 7);
  EXPECT_NEAR(trends[0].before, 100.3, 0.1);
  EXPECT_NEAR(trends[0].after, 200, 0.1);
  EXPECT_FALSE(trends[0].suspected);
}

TEST(Trends, AFailedNightAddsNothing) {
  auto nights = nights_of({100, 101, 99, 100, 102, 100});
  nights.push_back(night_with(7, 3, 1000, 0, Verdict::failed));
  EXPECT_TRUE(nights.back().values.empty());
  EXPECT_TRUE(find_trends(nights).empty());
}

TEST(Trends, NoiseIsNone) {
  EXPECT_TRUE(find_trends(nights_of({100, 104, 97, 101, 99, 103, 98, 105})).empty());
  EXPECT_TRUE(find_trends(nights_of({100})).empty());
}

TEST(Trends, WhatIsOldIsNotToldAgain) {
  EXPECT_TRUE(find_trends(nights_of({100, 101, 99, 100, 102, 200, 201, 199, 200, 201, 200})).empty());
}

TEST(Trends, OnlyWhatThisNightAdded) {
  auto nights = nights_of({100, 101, 99, 100, 102, 100, 200, 201, 199});
  nights.push_back(night_with(10, 0, 1000, 0, Verdict::unchanged));
  EXPECT_TRUE(find_trends(nights).empty());
}

TEST(Trends, ASizeThatJumpsIsSuspectedAtOnce) {
  std::vector<PastNight> nights;
  for (int i = 1; i <= 6; ++i) nights.push_back(night_with(i, 0, 1'000'000, 0));
  nights.push_back(night_with(7, 0, 1'200'000, 0));
  const auto trends = find_trends(nights);
  ASSERT_EQ(trends.size(), 1u);
  EXPECT_EQ(trends[0].what, "bytes");
  EXPECT_TRUE(trends[0].suspected);
}

TEST(Trends, LessThanAHundredthIsNothing) {
  std::vector<PastNight> nights;
  for (int i = 1; i <= 6; ++i) nights.push_back(night_with(i, 0, 1'000'000, 0));
  nights.push_back(night_with(7, 0, 1'001'000, 0));
  EXPECT_TRUE(find_trends(nights).empty());
}

TEST(Trends, SecondsThatAreNoneOfAnybodysAreNoise) {
  EXPECT_TRUE(find_trends(nights_of({1, 1.01, 0.99, 1, 1.02, 1, 2, 2.01, 1.99})).empty());
}

TEST(Trends, AMeasurementThatIsStillTheNewestCountsOnce) {
  std::vector<PastNight> nights;
  int number = 0;
  for (double speed : {80.0, 81.0, 79.0, 80.5, 79.5, 80.2, 95.0, 95.0, 95.0})
    nights.push_back(night_with(++number, 0, 0, speed, Verdict::unchanged));
  EXPECT_TRUE(find_trends(nights).empty());  // night 9 added nothing
  nights.resize(7);
  const auto trends = find_trends(nights);
  ASSERT_EQ(trends.size(), 1u);
  EXPECT_EQ(trends[0].what, "mnist, ms/step, on zen4");
  EXPECT_EQ(trends[0].night, 7);
}

}  // namespace
}  // namespace kiln
