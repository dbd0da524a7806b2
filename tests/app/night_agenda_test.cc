#include "factory/app/night_agenda.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kiln::testing
