#include "factory/bench/session.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

BenchRun run_of(const std::string& key, int round, std::vector<double> samples,
                const std::string& session = "s") {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = std::move(samples);
  run.key = key;
  run.name = "image:" + key;
  run.image = Digest::of(key);
  run.host.model = "AMD EPYC";
  run.host.cores = 2;
  run.round = round;
  run.place = key;
  run.session = session;
  run.taken = "2026-11-24T12:0" + std::to_string(round) + ":00Z";
  return run;
}

BenchRun disturbed(BenchRun run) {
  run.conditions.marks = {"under load"};
  return run;
}

// "a0 b0": image and round of each.
std::string turns_of(const std::vector<BenchRun>& runs) {
  std::string turns;
  for (const BenchRun& run : runs) turns += (turns.empty() ? "" : " ") + run.key + std::to_string(run.round);
  return turns;
}

TEST(RunsThatCount, AreOfCompleteRounds) {
  const std::vector<BenchRun> killed = {run_of("a", 0, {1}), run_of("b", 0, {1}), run_of("b", 1, {1}),
                                        run_of("a", 1, {1}), run_of("a", 2, {1})};
  EXPECT_EQ(turns_of(runs_that_count(killed)), "a0 b0 b1 a1") << "the kill came in round 2";
  EXPECT_EQ(turns_of(runs_that_count({run_of("a", 0, {1}), run_of("b", 1, {1})})), "");
}

TEST(RunsThatCount, LeaveDisturbedRoundsOutWhereTwoOthersRemain) {
  std::vector<BenchRun> runs = {run_of("a", 0, {1}), run_of("b", 0, {1}),
                                run_of("a", 1, {1}), disturbed(run_of("b", 1, {9})),
                                run_of("a", 2, {1}), run_of("b", 2, {1})};
  EXPECT_EQ(turns_of(runs_that_count(runs)), "a0 b0 a2 b2") << "of both, though one run was disturbed";
  runs[4] = disturbed(runs[4]);
  EXPECT_EQ(turns_of(runs_that_count(runs)), "a0 b0 a1 b1 a2 b2") << "one round says nothing of starts";
}

TEST(RunsThatCount, JudgeEachSessionByItself) {
  const std::vector<BenchRun> runs = {run_of("a", 0, {1}, "s"), run_of("a", 0, {1}, "t"),
                                      run_of("b", 0, {1}, "t"), run_of("a", 1, {1}, "t")};
  EXPECT_EQ(turns_of(runs_that_count(runs)), "a0 a0 b0");
}

// Before kiln named sessions: a day, and the last of each turn in it.
TEST(RunsThatCount, OfOldRunsAreTheLastOfADay) {
  BenchRun early = run_of("a", 0, {9}, ""), late = run_of("a", 0, {1}, "");
  late.taken = "2026-11-24T18:00:00Z";
  const std::vector<BenchRun> counting = runs_that_count({early, late, run_of("b", 1, {1}, "")});
  ASSERT_EQ(turns_of(counting), "a0 b1");
  EXPECT_EQ(counting[0].samples.front(), 1);
  early.place = late.place = "";  // of another program, which has no turns
  EXPECT_EQ(turns_of(runs_that_count({early, late})), "a0 a0");
}

TEST(Gain, IsTheSameInBothDirections) {
  const std::vector<BenchRun> a = {run_of("a", 0, {10, 11, 10, 12}), run_of("a", 1, {11, 10, 13, 10})};
  const std::vector<BenchRun> b = {run_of("b", 0, {5, 6, 5, 7}), run_of("b", 1, {5, 5, 6, 6})};
  const MeasuredGain there = gain_of(b, a), back = gain_of(a, b);
  EXPECT_EQ(there.key, "a");
  EXPECT_EQ(back.key, "b");
  EXPECT_GT(there.ratio, 1.8);
  EXPECT_DOUBLE_EQ(there.ratio, 1 / back.ratio);
  EXPECT_DOUBLE_EQ(there.low, 1 / back.high);
  EXPECT_DOUBLE_EQ(there.high, 1 / back.low);
  EXPECT_TRUE(there.different());
}

TEST(Gain, IsOfTheLastSessionOfBoth) {
  auto of = [](const std::string& session, const std::string& taken, const std::string& key) {
    BenchRun run = run_of(key, 0, {1}, session);
    run.taken = taken;
    return run;
  };
  const auto a =
      by_session({of("old", "2026-11-20", "a"), of("new", "2026-11-21", "a"), of("own", "2026-11-22", "a")});
  const auto b = by_session({of("old", "2026-11-20", "b"), of("new", "2026-11-21", "b")});
  ASSERT_NE(shared_session(a, b).image, nullptr);
  EXPECT_EQ(shared_session(a, b).image->session.id, "new");
  EXPECT_EQ(shared_session(a, b).over->runs.front().key, "b");
  EXPECT_EQ(shared_session(a, by_session({of("else", "2026-11-21", "b")})).image, nullptr);
  auto other_files = by_session({of("new", "2026-11-21", "b")});
  other_files[0].session.files = "another version";
  EXPECT_EQ(shared_session(a, other_files).image, nullptr);
}

TEST(MeasurementOfRuns, IsTheMedianOfTheirMediansAndTheQuartilesOfAll) {
  BenchRun first = run_of("a", 0, {900, 4, 5});
  first.warm = 1;
  first.conditions.busy = 0.25;
  const BenchRun second = run_of("a", 1, {6, 7, 8});
  const Measurement measurement = measurement_of({second, first});
  EXPECT_DOUBLE_EQ(measurement.median, 5.75);
  EXPECT_DOUBLE_EQ(measurement.low, 5);
  EXPECT_DOUBLE_EQ(measurement.high, 7);
  EXPECT_EQ(measurement.samples, 5);
  EXPECT_EQ(measurement.rounds, 2);
  EXPECT_DOUBLE_EQ(measurement.busy, 0.25) << "of the run that was disturbed most";
  EXPECT_EQ(measurement.taken, second.taken) << "the later one";
  EXPECT_EQ(measurement.image, Digest::of("a"));
  EXPECT_EQ(measurement.session, "s");
}

// The session of a stock image and of others: what each has to beat.
TEST(MeasurementsOfASession, HaveTheirGainOverTheFastestStockImageOfTheirVersion) {
  struct Image {
    std::string key, version;
    double speed;
    bool stock;
  };
  const std::vector<Image> images = {{"slow stock", "2.6", 20, true},
                                     {"stock", "2.6", 10, true},
                                     {"fast", "2.6", 5, false},
                                     {"slower", "2.6", 15, false},
                                     {"other version", "2.7", 4, false}};
  std::vector<BenchRun> runs;
  for (int round = 0; round < 7; ++round)
    for (const Image& image : images) {
      runs.push_back(run_of(image.key, round, {image.speed, image.speed, image.speed}));
      runs.back().stock = image.stock;
      runs.back().axes.framework = "pytorch";
      runs.back().axes.version = image.version;
    }
  std::map<std::string, Measurement> found;
  for (const Measurement& one : measurements_of(runs))
    found[one.key] =
        measurement_from_json(JsonDocument::parse(to_json(one).dump(), "measurement.json").root());
  ASSERT_EQ(found.size(), images.size());
  ASSERT_TRUE(found["fast"].over_stock);
  EXPECT_EQ(found["fast"].over_stock->key, "stock");
  EXPECT_DOUBLE_EQ(found["fast"].over_stock->ratio, 2);
  EXPECT_EQ(stock_gain(found["fast"]), StockGain::proven);
  EXPECT_EQ(stock_gain(found["slower"]), StockGain::slower);
  EXPECT_FALSE(found["other version"].over_stock);
  EXPECT_EQ(stock_gain(found["other version"]), StockGain::not_measured);
  EXPECT_FALSE(found["stock"].over_stock) << "it is held against nothing";
  EXPECT_TRUE(is_yardstick(found["stock"]));
  EXPECT_FALSE(is_yardstick(found["fast"]));
}

TEST(StockGain, NeedsSevenRoundsAndAnIntervalOnOneSideOfOne) {
  Measurement one;
  one.rounds = kProvingRounds;
  const auto word = [&](double low, double high) {
    one.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
    return std::string(stock_gain_word(stock_gain(one)));
  };
  EXPECT_EQ(word(1.01, 1.4), "proven");
  EXPECT_EQ(word(1, 1.4), "no gain");
  EXPECT_EQ(word(0.9, 1.1), "no gain");
  EXPECT_EQ(word(0.5, 1), "no gain");
  EXPECT_EQ(word(0.5, 0.99), "slower");
  one.rounds = kProvingRounds - 1;
  EXPECT_EQ(word(1.01, 1.4), "not measured");
  EXPECT_EQ(word(0.5, 0.9), "not measured");
  one.stock = true;
  EXPECT_FALSE(is_yardstick(one)) << "stock varies from start to start, too";
}

TEST(MeasurementOfRuns, ItsMedianIsBetweenItsQuartiles) {
  std::vector<double> many(40, 10);
  const Measurement measurement =
      measurement_of({run_of("a", 0, {100}), run_of("a", 1, {100}), run_of("a", 2, many)});
  EXPECT_DOUBLE_EQ(measurement.median, 100);
  EXPECT_DOUBLE_EQ(measurement.high, 100);
}

// What the index keeps is what a comparison of the runs says.
TEST(Measurements, HaveTheGainsOfTheirSession) {
  const std::vector<BenchRun> runs = {run_of("b", 0, {5, 6, 5}), run_of("a", 0, {10, 11, 12}),
                                      run_of("c", 0, {20, 21, 20}), run_of("c", 0, {1}, "another")};
  const std::vector<Measurement> found = measurements_of(runs);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].session, "another");
  EXPECT_TRUE(found[0].gains.empty());
  EXPECT_TRUE(found[1].gains.empty());
  EXPECT_EQ(found[2].key, "b");
  ASSERT_EQ(found[2].gains.size(), 1u);
  EXPECT_EQ(found[2].gains[0].key, "a");
  EXPECT_EQ(gain_text(found[2].gains[0]), gain_text(gain_of({runs[0]}, {runs[1]})));
  EXPECT_EQ(found[3].gains.size(), 2u);
  EXPECT_DOUBLE_EQ(found[2].gains[0].ratio, found[1].median / found[2].median);
}

}  // namespace
}  // namespace kiln
