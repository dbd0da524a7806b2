#include "factory/app/part_search.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

MeasuredWorkload search_place() {
  MeasuredWorkload place;
  place.workload = "mnist-cnn";
  place.files = "files";
  place.host.cpu = "zen3";
  place.host.model = "EPYC";
  place.host.cores = 2;
  return place;
}

Measurement session_speed(const std::string& key, const std::string& session, int rounds = kProvingRounds,
                          const std::string& workload = "mnist-cnn") {
  Measurement one;
  one.key = key;
  one.workload = workload;
  one.unit = "ms/step";
  one.host = search_place().host;
  one.workload_files = "files";
  one.session = session;
  one.rounds = rounds;
  one.median = 10;
  return one;
}

Measurement with_gain(Measurement one, const std::string& over, double low) {
  one.gains.push_back({over, low + 0.1, low, low + 0.2});
  return one;
}

bool measured(const Measurements& a, const Measurements& b) { return is_measured({&a, &b}, search_place()); }

TEST(IsMeasured, WhereOneSessionHasAllImages) {
  EXPECT_TRUE(measured({session_speed("a", "s")}, {session_speed("b", "t"), session_speed("b", "s")}));
  EXPECT_FALSE(measured({session_speed("a", "s")}, {session_speed("b", "t")}));
  EXPECT_FALSE(measured({session_speed("a", "s")}, {}));
  EXPECT_FALSE(measured({session_speed("a", "")}, {session_speed("b", "")}))
      << "old measurements have no session";
}

TEST(IsMeasured, WithEnoughRoundsOfThisWorkloadHere) {
  EXPECT_FALSE(measured({session_speed("a", "s", kProvingRounds - 1)}, {session_speed("b", "s")}));
  EXPECT_FALSE(measured({session_speed("a", "s")}, {session_speed("b", "s", kProvingRounds, "mlp")}));
  Measurement elsewhere = session_speed("b", "s"), older = session_speed("b", "s");
  elsewhere.host.model = "Xeon";
  older.workload_files = "older files";
  EXPECT_FALSE(measured({session_speed("a", "s")}, {elsewhere}));
  EXPECT_FALSE(measured({session_speed("a", "s")}, {older}));
}

SearchCell cell(std::uint32_t image, const std::string& name) {
  SearchCell one;
  one.image = image;
  one.name = name;
  return one;
}

TEST(TryOf, HasTheGainOverTheCellAndOverStock) {
  const SearchCell more = cell(2, "more"), over = cell(1, "over");
  const Measurements of_more = {with_gain(with_gain(session_speed("more", "s"), "over", 1.2), "stock", 1.5)};
  const SearchTry tried = try_of(more, over, of_more, {session_speed("over", "s")},
                                 {session_speed("stock", "s")}, search_place());
  ASSERT_TRUE(tried.gain);
  EXPECT_EQ(tried.gain->low, 1.2);
  ASSERT_TRUE(tried.over_stock);
  EXPECT_EQ(tried.over_stock->low, 1.5);
  EXPECT_EQ(tried.rounds, kProvingRounds);
  EXPECT_EQ(tried.cell, &more);
  EXPECT_EQ(tried.over, &over);
}

TEST(TryOf, SeveralMetricsHasTheLeastGain) {
  const std::string second = "mnist-cnn.decode";
  const Measurements of_more = {with_gain(session_speed("more", "s"), "over", 1.4),
                                with_gain(session_speed("more", "s", kProvingRounds, second), "over", 1.1)};
  const Measurements of_over = {session_speed("over", "s"),
                                session_speed("over", "s", kProvingRounds, second)};
  const SearchTry tried = try_of(cell(2, "more"), cell(1, "over"), of_more, of_over, {}, search_place());
  ASSERT_TRUE(tried.gain);
  EXPECT_EQ(tried.gain->low, 1.1);
  EXPECT_FALSE(tried.over_stock);
}

TEST(TryOf, WithoutACommonSessionHasNoGain) {
  const Measurements of_more = {with_gain(session_speed("more", "s"), "over", 1.4),
                                session_speed("more", "t")};
  EXPECT_FALSE(
      try_of(cell(2, "more"), cell(1, "over"), of_more, {session_speed("over", "s")}, {}, search_place())
          .gain)
      << "the last measurement counts, and it is of another session";
  EXPECT_FALSE(
      try_of(cell(2, "more"), cell(1, "over"), {}, {session_speed("over", "s")}, {}, search_place()).gain);
}

SearchTry tried(const SearchCell& one, const SearchCell& over, double low, bool is_kept) {
  SearchTry attempt{&one, &over, MeasuredGain{"k", low + 0.1, low, low + 0.2}, {}, kProvingRounds};
  attempt.is_kept = is_kept;
  return attempt;
}

TEST(SearchVerdictsOf, KeepTheEndsAndRefuteWhatNoSearchGoesOnFrom) {
  const std::vector<SearchCell> cells = {cell(0, "stock"), cell(1, "first"), cell(2, "second"),
                                         cell(3, "slower"), cell(4, "unknown")};
  WorkloadSearch search{"mnist-cnn", &cells[0]};
  search.tries = {tried(cells[1], cells[0], 1.2, true), tried(cells[3], cells[0], 0.7, false),
                  tried(cells[2], cells[1], 1.1, true), SearchTry{&cells[4], &cells[1]}};
  search.tries[2].over_stock = MeasuredGain{"k", 1.4, 1.3, 1.5};
  const SearchVerdicts verdicts = verdicts_of({search});
  ASSERT_EQ(verdicts.kept.size(), 1u);
  const std::string reason = verdicts.kept.at(2).at(0);
  EXPECT_TRUE(reason.starts_with("mnist-cnn: kept, ")) << reason;
  EXPECT_NE(reason.find("first"), std::string::npos) << reason;
  EXPECT_NE(reason.find("stock"), std::string::npos) << reason;
  ASSERT_EQ(verdicts.refuted.size(), 1u) << "the cell on the way and the one without a gain are neither";
  EXPECT_TRUE(verdicts.refuted.contains(3));
}

TEST(SearchVerdictsOf, TwoWorkloadsAddTheirReasons) {
  const std::vector<SearchCell> cells = {cell(0, "stock"), cell(1, "first")};
  WorkloadSearch a{"mnist-cnn", &cells[0], {tried(cells[1], cells[0], 1.2, true)}};
  WorkloadSearch b{"mlp", &cells[0], {tried(cells[1], cells[0], 1.3, true)}};
  EXPECT_EQ(verdicts_of({a, b}).kept.at(1).size(), 2u);
  EXPECT_EQ(reason_of(a, a.tries[0]).find("stock)"), std::string::npos);
}

}  // namespace
}  // namespace kiln
