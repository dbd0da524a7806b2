#include "factory/night/budget.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

double ten_seconds_each(const ImageNumbers& images) { return 10.0 * static_cast<double>(images.size()); }

TEST(Budget, StaleThenAskedThenNever) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0},
                                        {1, BudgetTurn::asked, 2},
                                        {2, BudgetTurn::stale, 0},
                                        {3, BudgetTurn::asked, 7},
                                        {4, BudgetTurn::stale, 0},
                                        {5, BudgetTurn::never, 0}},
                                       1000, ten_seconds_each);
  const std::vector<ImageNumbers> wanted{{2, 4}, {3, 1}, {0, 5}};
  EXPECT_EQ(agenda.rounds, wanted);
  EXPECT_TRUE(agenda.no_time.empty());
}

TEST(Budget, WhatDoesNotFitIsNamed) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0},
                                        {1, BudgetTurn::asked, 2},
                                        {2, BudgetTurn::stale, 0},
                                        {3, BudgetTurn::asked, 7}},
                                       25, ten_seconds_each);
  const std::vector<ImageNumbers> wanted{{2}, {3}};
  EXPECT_EQ(agenda.rounds, wanted);
  EXPECT_EQ(agenda.no_time, (ImageNumbers{1, 0}));
}

TEST(Budget, EveryBudgetTakesTheLongestBeginning) {
  std::vector<AgendaItem> candidates;
  for (std::uint32_t i = 0; i < 37; ++i) candidates.push_back({i, BudgetTurn::never, 0});
  for (int fits = 1; fits <= 37; ++fits) {
    const NightAgenda agenda = agenda_of(candidates, 10.0 * fits + 5, ten_seconds_each);
    EXPECT_EQ(agenda.rounds.at(0).size(), static_cast<std::size_t>(fits));
    EXPECT_EQ(agenda.no_time.size(), static_cast<std::size_t>(37 - fits));
  }
}

TEST(Budget, OneIsAlwaysTried) {
  const NightAgenda agenda =
      agenda_of({{7, BudgetTurn::stale, 0}, {8, BudgetTurn::stale, 0}}, 1, ten_seconds_each);
  EXPECT_EQ(agenda.rounds, std::vector<ImageNumbers>{ImageNumbers{7}});
  EXPECT_EQ(agenda.no_time, ImageNumbers{8});
  EXPECT_TRUE(agenda.has_no_end);
  EXPECT_FALSE(
      agenda_of({{7, BudgetTurn::stale, 0}, {8, BudgetTurn::stale, 0}}, 15, ten_seconds_each).has_no_end);
}

TEST(Budget, WhatNobodyKnowsIsTried) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0}, {1, BudgetTurn::never, 0}}, 1,
                                       [](const ImageNumbers&) { return 0.0; });
  EXPECT_TRUE(agenda.no_time.empty());
}

TEST(Budget, OfNothingIsNothing) {
  const NightAgenda agenda = agenda_of({}, 1, ten_seconds_each);
  EXPECT_TRUE(agenda.rounds.empty());
}

}  // namespace
}  // namespace kiln
