#include "factory/night/night_gains.h"

#include <gtest/gtest.h>

#include "factory/night/night_text.h"

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

}  // namespace
}  // namespace kiln
