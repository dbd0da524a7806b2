#include "factory/app/night_agenda.h"

#include <gtest/gtest.h>

#include "factory/night/night_gains.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

Demand demand(const std::string& question, Demand::Outcome outcome, std::uint64_t count) {
  Demand one;
  one.question = question;
  one.outcome = outcome;
  one.count = count;
  return one;
}

TEST(UnmetDemand, IsWhatHadNoGoodAnswerTheMostFrequentFirst) {
  const std::vector<Demand> unmet =
      unmet_demand({demand("a", Demand::Outcome::missed, 1), demand("b", Demand::Outcome::answered, 9),
                    demand("c", Demand::Outcome::second_best, 3), demand("d", Demand::Outcome::missed, 1)});
  ASSERT_EQ(unmet.size(), 3u);
  EXPECT_EQ(unmet[0].question, "c");
  EXPECT_EQ(unmet[1].question, "a") << "equal counts keep their order";
  EXPECT_EQ(unmet[2].question, "d");
}

TEST(UnmetDemand, IsOfAHundredQuestionsAtMost) {
  std::vector<Demand> all(101, demand("a", Demand::Outcome::missed, 2));
  all.front().count = 1;
  const std::vector<Demand> unmet = unmet_demand(all);
  ASSERT_EQ(unmet.size(), 100u);
  EXPECT_EQ(unmet.back().count, 2u) << "the one that was asked least is left out";
}

TEST(AgendaItems, AreStaleThenAskedThenNever) {
  const Resolver resolver;
  const BuildPlan plan = plan_matrix(
      matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}), axis("base", {"debian"}),
              axis("method", {"distro", "pip"}), axis("target", {"x86_64_v3", "x86_64_v4"})}),
      resolver.input());
  ASSERT_EQ(plan.size(), 4u);
  const std::vector<AgendaItem> items = agenda_items(plan, {3, 0, 1, 2}, {{0, 5}, {3, 7}},
                                                     {plan.image(0).reference(), plan.image(2).reference()});
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].image, 3u);
  EXPECT_EQ(items[0].turn, BudgetTurn::asked);
  EXPECT_EQ(items[0].asked, 7u);
  EXPECT_EQ(items[1].turn, BudgetTurn::stale) << "also where it is asked for";
  EXPECT_EQ(items[1].asked, 5u);
  EXPECT_EQ(items[2].turn, BudgetTurn::never);
  EXPECT_EQ(items[2].asked, 0u);
  EXPECT_EQ(items[3].turn, BudgetTurn::stale);
}

BuildReport round_of(const std::string& id, Outcome outcome) {
  BuildReport report;
  ImageOutcome image;
  image.id = id;
  image.outcome = outcome;
  report.images = {image};
  report.steps_run = 2;
  report.steps_fetched = 3;
  report.seconds = 10;
  return report;
}

TEST(AddRound, SumsWhatRoundsDid) {
  BuildReport night;
  BuildReport first = round_of("a", Outcome::built);
  first.add({"key", "busybox (distro)", "its signature does not match"});
  first.stopped = "ninja was killed by signal 9";
  add_round(night, first);
  BuildReport second = round_of("b", Outcome::not_reached);
  second.add({"key", "busybox (distro)", "its signature does not match"});
  second.interrupted = true;
  add_round(night, second);
  EXPECT_EQ(night.images.size(), 2u);
  EXPECT_EQ(night.steps_run, 4u);
  EXPECT_EQ(night.steps_fetched, 6u);
  EXPECT_EQ(night.seconds, 20);
  EXPECT_EQ(night.forged.size(), 1u) << "each once";
  EXPECT_TRUE(night.interrupted);
  EXPECT_EQ(night.stopped, "ninja was killed by signal 9");
  add_round(night, round_of("c", Outcome::built));
  EXPECT_TRUE(night.interrupted) << "it stays so";
  EXPECT_EQ(not_reached(night), std::set<std::string>{"b"});
}

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
}  // namespace kiln::testing
