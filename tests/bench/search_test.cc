#include "factory/bench/search.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

SearchCell cell(const std::string& name, std::set<std::string> parts, bool is_stock = false,
                const std::string& base = "pytorch 2.6") {
  SearchCell one;
  one.name = name;
  one.base = base;
  one.parts = std::move(parts);
  one.is_stock = is_stock;
  return one;
}

std::vector<std::string> names(const std::vector<const SearchCell*>& cells) {
  std::vector<std::string> all;
  for (const SearchCell* one : cells) all.push_back(one->name);
  return all;
}

using Strings = std::vector<std::string>;

std::vector<SearchCell> world() {
  return {cell("tc", {"runtime tcmalloc"}),
          cell("stock", {}, true),
          cell("both", {"runtime tcmalloc", "compiler inductor"}),
          cell("inductor", {"compiler inductor"}),
          cell("all", {"runtime tcmalloc", "compiler inductor", "library openblas"}),
          cell("other", {"runtime tcmalloc"}, false, "pytorch 2.7")};
}

TEST(GreedySearch, BeginsWithTheStockCellOfEachBase) {
  std::vector<SearchCell> cells = world();
  EXPECT_EQ(names(search_starts(cells)), Strings{"stock"});
  cells.push_back(cell("stock 2.7 with more", {"library x"}, true, "pytorch 2.7"));
  cells.push_back(cell("stock 2.7", {}, true, "pytorch 2.7"));
  EXPECT_EQ(names(search_starts(cells)), (Strings{"stock", "stock 2.7"}));
}

TEST(GreedySearch, AddsOnePartAtATime) {
  const std::vector<SearchCell> cells = world();
  EXPECT_EQ(names(additions_to(cells[1], cells)), (Strings{"tc", "inductor"}));
  EXPECT_EQ(names(additions_to(cells[0], cells)), Strings{"both"});
  EXPECT_EQ(names(additions_to(cells[2], cells)), Strings{"all"});
  EXPECT_EQ(names(additions_to(cells[4], cells)), Strings{});
  EXPECT_EQ(added_part(cells[2], cells[0]), "compiler inductor");
}

SearchTry tried(const SearchCell& one, double ratio, double low, double high) {
  return {&one, nullptr, MeasuredGain{"key", ratio, low, high}, {}, kProvingRounds};
}

TEST(GreedySearch, KeepsTheBestThatIsProven) {
  const std::vector<SearchCell> cells = world();
  std::vector<SearchTry> tries = {tried(cells[0], 1.2, 1.1, 1.3),
                                  tried(cells[3], 1.5, 0.9, 2.0),
                                  tried(cells[2], 1.3, 1.25, 1.4),
                                  tried(cells[4], 0.8, 0.7, 0.9),
                                  {&cells[5]}};
  EXPECT_EQ(keep_best(tries), &cells[2]);
  Strings words;
  for (const SearchTry& one : tries) words.push_back(search_word(one));
  EXPECT_EQ(words, (Strings{"proven", "no gain", "kept", "slower", "failed"}));
  ASSERT_NE(search_result(tries), nullptr);
  EXPECT_EQ(search_result(tries)->cell, &cells[2]);
}

TEST(GreedySearch, StopsWhereNothingIsProvenBetter) {
  const std::vector<SearchCell> cells = world();
  std::vector<SearchTry> tries = {tried(cells[0], 1.2, 1.0, 1.3), {&cells[3]}};
  EXPECT_EQ(keep_best(tries), nullptr);
  EXPECT_EQ(search_result(tries), nullptr);
  tries = {tried(cells[0], 1.2, 1.1, 1.3)};
  tries[0].rounds = kProvingRounds - 1;
  EXPECT_EQ(keep_best(tries), nullptr);
  EXPECT_EQ(search_word(tries[0]), "too few rounds");
  std::vector<SearchTry> none;
  EXPECT_EQ(keep_best(none), nullptr);
}

}  // namespace
}  // namespace kiln
