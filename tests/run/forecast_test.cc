// How long is left, and how far off that may be.
#include "factory/run/forecast.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln {
namespace {

TEST(Forecast, OneAfterTheOtherAndSideBySide) {
  const std::vector<ForecastStep> steps = {{"base", {}, 10, 3}, {"a", {0}, 20, 4}, {"b", {0}, 30, 1}};
  const auto one = Forecast(steps, 1).left(0);
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ(one->seconds, 60);
  EXPECT_NEAR(one->error, std::sqrt(9 + 16 + 1), 1e-9);
  const auto two = Forecast(steps, 2).left(0);
  EXPECT_DOUBLE_EQ(two->seconds, 40);
  EXPECT_NEAR(two->error, std::sqrt(9 + 1), 1e-9) << "of those that decide it";
}

TEST(Forecast, WhatRunsHasItsRestAndWhatHasEndedNothing) {
  Forecast forecast({{"base", {}, 10, 0}, {"a", {0}, 20, 0}}, 2);
  forecast.start("base", 100);
  EXPECT_DOUBLE_EQ(forecast.left(104)->seconds, 26);
  EXPECT_DOUBLE_EQ(forecast.left(200)->seconds, 20) << "it takes longer than it did";
  forecast.end("base");
  forecast.start("a", 300);
  EXPECT_DOUBLE_EQ(forecast.left(305)->seconds, 15);
  forecast.start("a", 310);
  EXPECT_DOUBLE_EQ(forecast.left(310)->seconds, 20) << "it waited";
  forecast.end("a");
  EXPECT_FALSE(forecast.left(320));
  forecast.end("unknown");
}

TEST(Forecast, WhereTooLittleIsKnownThereIsNone) {
  EXPECT_FALSE(Forecast({{"a", {}, 10, 0}, {"b"}, {"c"}}, 1).left(0));
  EXPECT_FALSE(Forecast({}, 1).left(0));
  const auto half = Forecast({{"a", {}, 10, 0}, {"b"}}, 1).left(0);
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->seconds, 20) << "the other takes as long";
  EXPECT_DOUBLE_EQ(half->error, 10);
}

TEST(Forecast, IsSaidInWords) {
  EXPECT_EQ(text_of(std::nullopt), "");
  EXPECT_EQ(text_of(TimeLeft{45, 3}), "about 45 s, give or take 3 s");
  EXPECT_EQ(text_of(TimeLeft{720, 100}), "about 12 min, give or take 2 min");
  EXPECT_EQ(text_of(TimeLeft{9000, 1200}), "about 2.5 h, give or take 20 min");
}

// The processors are divided among so many.
TEST(Forecast, NoMoreRunSideBySideThanThePlanLets) {
  const std::vector<ForecastStep> chain = {{"a", {}, 10, 0}, {"b", {0}, 10, 0}, {"c", {1}, 10, 0}};
  EXPECT_EQ(Forecast(chain, 8).most_at_once(), 1);
  std::vector<ForecastStep> fan = {{"base"}};
  for (int i = 0; i < 6; ++i) fan.push_back({"leaf" + std::to_string(i), {0}});
  EXPECT_EQ(Forecast(fan, 4).most_at_once(), 4);
  EXPECT_EQ(Forecast(fan, 64).most_at_once(), 6) << "though none of them was ever run";
  EXPECT_EQ(Forecast({}, 4).most_at_once(), 1);
}

}  // namespace
}  // namespace kiln
