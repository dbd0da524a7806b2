#include "factory/night/night_images.h"

#include <gtest/gtest.h>

#include "night/night_values.h"

namespace kiln {
namespace {

ImageOutcome outcome(Outcome what) {
  ImageOutcome outcome;
  outcome.outcome = what;
  return outcome;
}

NightImage judged(FailureClass failure, ExitCode cause, const NightImage* before, std::int64_t night) {
  NightImage image = testing::night_image("a", Verdict::failed);
  image.what = "it ended";
  image.step = "key";
  image.failure = failure;
  image.cause = cause;
  judge(image, before, night);
  return image;
}

TEST(Verdict, OfAnOutcome) {
  EXPECT_EQ(verdict_of(outcome(Outcome::built), nullptr), Verdict::built);
  EXPECT_EQ(verdict_of(outcome(Outcome::up_to_date), nullptr), Verdict::unchanged);
  EXPECT_EQ(verdict_of(outcome(Outcome::failed), nullptr), Verdict::failed);
  EXPECT_EQ(verdict_of(outcome(Outcome::skipped), nullptr), Verdict::no_machine);
  EXPECT_EQ(verdict_of(outcome(Outcome::not_reached), nullptr), Verdict::not_reached);
}

TEST(Verdict, WhatFailedAndIsThereNowWasMended) {
  const NightImage before = testing::failed_image("a", "x");
  EXPECT_EQ(verdict_of(outcome(Outcome::built), &before), Verdict::mended);
  EXPECT_EQ(verdict_of(outcome(Outcome::up_to_date), &before), Verdict::mended);
  const NightImage good = testing::night_image("a", Verdict::unchanged);
  EXPECT_EQ(verdict_of(outcome(Outcome::built), &good), Verdict::built);
}

TEST(Verdict, AFailedBuildIsForWhoeverKeepsTheRecipe) {
  const NightImage image = judged(FailureClass::build, ExitCode::images_failed, nullptr, 7);
  EXPECT_EQ(image.actor, Actor::recipe);
  EXPECT_EQ(image.advice, "look at the end of its log");
  EXPECT_EQ(image.failing_since, 7);
}

TEST(Verdict, TheNetworkIsNobodysForTwoNights) {
  NightImage image = judged(FailureClass::infrastructure, ExitCode::network, nullptr, 7);
  EXPECT_EQ(image.actor, Actor::nobody);
  const NightImage second = judged(FailureClass::infrastructure, ExitCode::network, &image, 8);
  EXPECT_EQ(second.actor, Actor::nobody);
  EXPECT_EQ(second.failing_since, 7);
  const NightImage third = judged(FailureClass::infrastructure, ExitCode::network, &second, 9);
  EXPECT_EQ(third.actor, Actor::site);
  EXPECT_EQ(third.advice, "it failed 3 nights in a row: the cause is permanent");
  const NightImage eighth = judged(FailureClass::infrastructure, ExitCode::network, &third, 14);
  EXPECT_EQ(eighth.advice, "it failed 8 nights in a row: the cause is permanent");
}

TEST(Verdict, AFullDiskIsForTheSiteAtOnce) {
  EXPECT_EQ(judged(FailureClass::infrastructure, ExitCode::store, nullptr, 1).actor, Actor::site);
  EXPECT_EQ(judged(FailureClass::infrastructure, ExitCode::tool_missing, nullptr, 1).actor, Actor::site);
  EXPECT_EQ(judged(FailureClass::policy, ExitCode::network, nullptr, 1).actor, Actor::site);
  EXPECT_EQ(judged(FailureClass::input, ExitCode::input, nullptr, 1).actor, Actor::recipe);
}

TEST(Verdict, WhatSlurmRefusesIsForTheSiteAtOnce) {
  const NightImage image = judged(FailureClass::policy, ExitCode::images_failed, nullptr, 1);
  EXPECT_EQ(image.actor, Actor::site);
  EXPECT_NE(image.advice.find("\"slurm\" in the site file"), std::string::npos) << image.advice;
}

TEST(Verdict, WhoWasNotReachedKeepsFailing) {
  const NightImage before = judged(FailureClass::build, ExitCode::images_failed, nullptr, 3);
  NightImage image = testing::night_image("a", Verdict::not_reached);
  judge(image, &before, 4);
  EXPECT_EQ(image.failing_since, 3);
  EXPECT_EQ(image.actor, Actor::nobody);
  NightImage good = testing::night_image("a", Verdict::mended);
  judge(good, &image, 5);
  EXPECT_EQ(good.failing_since, 0);
  EXPECT_EQ(good.advice, "");
}

TEST(Verdict, EachThatIsNotGoodSaysWhatComes) {
  for (Verdict verdict :
       {Verdict::failed, Verdict::unplanned, Verdict::not_reached, Verdict::no_time, Verdict::no_machine}) {
    NightImage image = testing::night_image("a", verdict);
    judge(image, nullptr, 1);
    EXPECT_NE(image.advice, "") << name_of(verdict);
    EXPECT_FALSE(is_good(verdict));
  }
}

using testing::night_image;

TEST(Gate, IsOpenWhenItsCellsAreGood) {
  const std::vector<GateCells> gates{{"stock", {"a", "b"}}, {"tvm", {"c"}}};
  auto jobs = look_at_gates(gates, {night_image("a", Verdict::built), night_image("b", Verdict::unchanged),
                                    night_image("c", Verdict::mended)});
  EXPECT_TRUE(is_open(jobs));
  EXPECT_EQ(jobs[0].cells, 2u);
}

TEST(Gate, NamesWhatKeepsItClosed) {
  for (Verdict verdict : {Verdict::failed, Verdict::unplanned, Verdict::not_reached, Verdict::no_time}) {
    const auto jobs = look_at_gates({{"stock", {"a", "b"}}, {"other", {"a"}}},
                                    {night_image("a", Verdict::built), night_image("b", verdict)});
    EXPECT_FALSE(is_open(jobs)) << name_of(verdict);
    EXPECT_EQ(jobs[0].missing, std::vector<std::string>{"b:1"});
    EXPECT_TRUE(jobs[1].missing.empty());
  }
}

TEST(Gate, AnotherMachinesImagesDoNotCloseIt) {
  EXPECT_TRUE(is_open(look_at_gates({{"g", {"a"}}}, {night_image("a", Verdict::no_machine)})));
}

TEST(Gate, ACellThatIsNowhereClosesIt) {
  EXPECT_FALSE(is_open(look_at_gates({{"g", {"a"}}}, {night_image("b", Verdict::built)})));
}

TEST(Gate, WithoutGatesAllGoesThrough) {
  EXPECT_TRUE(is_open(look_at_gates({}, {night_image("a", Verdict::failed)})));
}

}  // namespace
}  // namespace kiln
