#include "factory/app/night_measuring.h"

#include <gtest/gtest.h>

#include "factory/night/night_gains.h"

namespace kiln {
namespace {

class NightMeasuringTest : public ::testing::Test {
 protected:
  NightMeasuringTest() {
    cnn_.name = "mnist-cnn";
    mlp_.name = "mlp";
  }
  PlannedSession planned(const SuiteWorkload& workload, MeasureNeed need, std::size_t images) const {
    return {&workload, {"pytorch 2.6.0", need, ImageNumbers(images)}};
  }
  SuiteWorkload cnn_, mlp_;
};

TEST_F(NightMeasuringTest, SessionsAreInTheOrderOfNeed) {
  std::vector<PlannedSession> agenda = {
      planned(cnn_, MeasureNeed::missing, 1), planned(mlp_, MeasureNeed::fell_back, 2),
      planned(mlp_, MeasureNeed::missing, 3), planned(cnn_, MeasureNeed::changed, 4)};
  sort_by_need(agenda);
  std::vector<std::size_t> images;
  for (const PlannedSession& one : agenda) images.push_back(one.session.images.size());
  EXPECT_EQ(images, (std::vector<std::size_t>{2, 4, 1, 3}));
}

TEST_F(NightMeasuringTest, TextNamesWorkloadImagesAndNeed) {
  EXPECT_EQ(text_of(planned(cnn_, MeasureNeed::missing, 3)), "mnist-cnn in 3 images of pytorch 2.6.0 (new)");
}

TEST_F(NightMeasuringTest, WhatIsLeftIsCountedByWorkload) {
  const std::vector<PlannedSession> agenda = {
      planned(cnn_, MeasureNeed::missing, 1), planned(cnn_, MeasureNeed::missing, 2),
      planned(mlp_, MeasureNeed::missing, 1), planned(cnn_, MeasureNeed::missing, 4)};
  EXPECT_EQ(left_remarks(agenda, 1, "the time was up"),
            (std::vector<std::string>{
                "not measured: mlp in 1 image: the time was up; the next night goes on",
                "not measured: mnist-cnn in 6 images: the time was up; the next night goes on"}));
  EXPECT_TRUE(left_remarks(agenda, 4, "the time was up").empty());
}

TEST_F(NightMeasuringTest, TooFewRoundsAreRemarked) {
  EXPECT_EQ(rounds_remark(kProvingRounds, "mnist-cnn"), "");
  EXPECT_EQ(rounds_remark(kProvingRounds - 1, "mnist-cnn"),
            "mnist-cnn: 6 of 7 rounds count: the next night goes on");
}

TEST(BusyMachine, IsBusyAtEveryLook) {
  std::vector<double> looks = {8, 8, 6};
  std::size_t number = 0;
  const auto look = [&] { return looks.at(number++); };
  EXPECT_EQ(busy_at_every_look(look, 8), 6);
  number = 0;
  looks = {8, 0, 8};
  EXPECT_EQ(busy_at_every_look(look, 8), 0) << "one quiet look is enough";
  EXPECT_EQ(number, 2u);
}

MeasureCandidate remembered(const std::map<std::string, NightGain>& gains, int ranks = 0) {
  MeasuredWorkload place;
  place.workload = "mnist-cnn";
  place.ranks = ranks;
  place.host.model = "EPYC";
  place.host.cores = 2;
  NightImage image;
  image.gains = gains;
  MeasureCandidate one;
  remember(image, place, one);
  return one;
}

TEST(Remember, KnowsTheGainsOfThisWorkloadOnThisMachine) {
  HostDescription here;
  here.model = "EPYC";
  here.cores = 2;
  HostDescription other = here;
  other.model = "Xeon";
  NightGain fallen;
  fallen.fell = 3;
  const std::string place = gain_place("mnist-cnn", here);
  EXPECT_FALSE(remembered({}).was_known);
  EXPECT_FALSE(remembered({{gain_place("mnist-cnn", other), {}}}).was_known);
  EXPECT_FALSE(remembered({{gain_place("mlp", here), {}}}).was_known);
  EXPECT_FALSE(remembered({{place, {}}}, 2).was_known) << "of other ranks";
  const MeasureCandidate known = remembered({{place, {}}});
  EXPECT_TRUE(known.was_known);
  EXPECT_FALSE(known.fell_back);
  EXPECT_TRUE(remembered({{place, fallen}}).fell_back);
  EXPECT_TRUE(remembered({{place, fallen}, {gain_place("mnist-cnn.decode", here), {}}}).fell_back)
      << "one metric is enough";
}

}  // namespace
}  // namespace kiln
