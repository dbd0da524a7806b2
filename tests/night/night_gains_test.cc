#include "factory/night/night_gains.h"

#include <gtest/gtest.h>

#include "factory/night/night_text.h"
#include "night/night_values.h"

namespace kiln {
namespace {

constexpr const char* kPlace = "mnist-cnn on EPYC, 2 processors";

Measurement measured(double low, double high, int rounds = kProvingRounds) {
  Measurement one;
  one.workload = "mnist-cnn";
  one.unit = "ms/step";
  one.median = 90;
  one.host.cpu = "zen3";
  one.host.model = "EPYC";
  one.host.cores = 2;
  one.rounds = rounds;
  one.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
  return one;
}

NightImage image(const std::string& cell, const std::string& key) {
  NightImage one;
  one.cell = cell;
  one.name = "pytorch:" + cell;
  one.key = key;
  return one;
}

NightImage with(StockGain word, std::int64_t fell = 0) {
  NightImage one = image("a", "key");
  one.gains[kPlace] = {word, 1, 0.9, 1.1, fell};
  return one;
}

NightGain compared(const NightImage& now, const NightImage& before) {
  std::vector<NightImage> images = {now};
  compare_gains(images, {before}, 7);
  return images.front().gains.at(kPlace);
}

TEST(NightGains, AreThoseOfTheLastMeasurementOfTheBits) {
  IndexEntry entry;
  entry.image.key = "key";
  entry.measurements = {measured(1.1, 1.3), measured(0.9, 1.1), measured(0.5, 0.6, 3)};
  entry.measurements.back().workload = "mlp";
  std::vector<NightImage> images = {image("a", "key"), image("b", "another"), image("c", "")};
  set_gains(images, {entry, IndexEntry()});
  ASSERT_EQ(images[0].gains.size(), 1u) << "three rounds decide nothing";
  EXPECT_EQ(images[0].gains.at(kPlace).word, StockGain::no_gain);
  EXPECT_EQ(images[0].gains.at(kPlace).high, 1.1);
  EXPECT_EQ(images[0].speeds,
            (std::map<std::string, double>{{"mlp, ms/step, on zen3", 90},
                                           {"mnist-cnn, ms/step, on zen3", 90},
                                           {std::string("times as fast as stock, ") + kPlace, 1}}));
  EXPECT_TRUE(images[1].gains.empty());
  EXPECT_TRUE(images[2].gains.empty());
}

TEST(NightGains, FallFromTheFirstNightThatDoesNotProveThem) {
  EXPECT_EQ(compared(with(StockGain::no_gain), with(StockGain::proven)).fell, 7);
  EXPECT_EQ(compared(with(StockGain::slower), with(StockGain::proven)).fell, 7);
  EXPECT_EQ(compared(with(StockGain::slower), with(StockGain::no_gain, 5)).fell, 5);
  EXPECT_EQ(compared(with(StockGain::proven), with(StockGain::no_gain, 5)).fell, 0);
  EXPECT_EQ(compared(with(StockGain::no_gain), with(StockGain::slower)).fell, 0) << "it never was proven";
  EXPECT_EQ(compared(with(StockGain::slower), image("a", "key")).fell, 0);
}

TEST(NightGains, OfEarlierBitsStayKnownUntilTheNewOnesAreMeasured) {
  const NightGain carried = compared(image("a", "new"), with(StockGain::proven));
  EXPECT_EQ(carried.word, StockGain::proven);
  EXPECT_TRUE(carried.is_of_earlier_bits);
  EXPECT_EQ(carried.fell, 0);
  NightImage before = image("a", "new");
  before.gains[kPlace] = carried;
  const NightGain now = compared(with(StockGain::slower), before);
  EXPECT_EQ(now.fell, 7);
  EXPECT_FALSE(now.is_of_earlier_bits);
}

TEST(NightGains, ThatFellAreATroubleWithTheChangePoint) {
  NightImage fallen = with(StockGain::no_gain, 41);
  fallen.gains[kPlace] = {StockGain::no_gain, 0.99, 0.95, 1.03, 41};
  EXPECT_TRUE(has_fallen(fallen));
  EXPECT_FALSE(has_fallen(with(StockGain::no_gain)));
  const std::string what = std::string("times as fast as stock, ") + kPlace;
  const std::vector<Trend> trends = {{"pytorch:a", "seconds", 1, 2, 3, false},
                                     {"pytorch:a", what, 1.32, 0.99, 41, true}};
  const auto troubles = fallen_troubles({fallen, with(StockGain::slower)}, trends);
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0].cause, TroubleCause::gain);
  EXPECT_EQ(troubles[0].code, ExitCode::images_failed);
  EXPECT_EQ(troubles[0].actor, Actor::recipe);
  EXPECT_EQ(
      troubles[0].what,
      "pytorch:a: mnist-cnn on EPYC, 2 processors: proven before night 41, and no gain by now: 0.99 times "
      "as fast as stock (0.95 to 1.03): 1.32 → 0.99 perhaps since night 41");
  EXPECT_EQ(fallen_troubles({fallen}, {})[0].what.find("→"), std::string::npos);
}

TEST(NightGains, AreKeptInTheReport) {
  NightReport report;
  report.matrix = "demo";
  report.number = 1;
  report.images = {with(StockGain::no_gain, 5), with(StockGain::proven)};
  report.images[1].gains[kPlace].is_of_earlier_bits = true;
  const std::string text = to_json(report).dump();
  const NightReport read = night_from_json(JsonDocument::parse(text, "night.json").root());
  EXPECT_EQ(to_json(read).dump(), text);
  EXPECT_EQ(read.images[0].gains.at(kPlace).fell, 5);
  EXPECT_TRUE(read.images[1].gains.at(kPlace).is_of_earlier_bits);
}

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
