#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/app/benching.h"

namespace kiln {
namespace {

MeasuredWorkload rows_place() {
  MeasuredWorkload place;
  place.workload = "mnist-cnn";
  place.files = "files";
  place.host.model = "EPYC";
  place.host.cores = 2;
  return place;
}

Measurement speed(const std::string& workload, double median, const std::string& session = "s") {
  Measurement one;
  one.workload = workload;
  one.unit = "ms/step";
  one.key = "a";
  one.median = median;
  one.host = rows_place().host;
  one.workload_files = "files";
  one.session = session;
  return one;
}

TEST(KnownSpeeds, AreTheLastOfEachMetric) {
  const SpeedsByName known = known_speeds(
      {speed("mnist-cnn", 1), speed("mnist-cnn.decode", 2), speed("mnist-cnn", 3), speed("mlp", 4)},
      rows_place(), {});
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known.at("mnist-cnn").median, 3);
  EXPECT_EQ(known.at("mnist-cnn.decode").median, 2);
}

TEST(KnownSpeeds, AreOfThisMachineThisVersionAndCompleteSessions) {
  Measurement other_model = speed("mnist-cnn", 1), other_cores = other_model, other_files = other_model;
  Measurement arm = other_model;
  other_model.host.model = "Xeon";
  arm.host.model = "A64FX";
  other_cores.host.cores = 4;
  other_files.workload_files = "older files";
  EXPECT_TRUE(known_speeds({other_model, arm, other_cores, other_files, speed("mnist-cnn", 1, "killed")},
                           rows_place(), {"killed"})
                  .empty());
  Measurement old = speed("mnist-cnn", 7);
  old.workload_files = "";
  EXPECT_EQ(known_speeds({old}, rows_place(), {}).size(), 1u) << "an old one does not say its version";
}

TEST(KnownSpeeds, AreOfTheSameRanksAndInput) {
  MeasuredWorkload place = rows_place();
  place.ranks = 2;
  EXPECT_TRUE(known_speeds({speed("mnist-cnn", 1)}, place, {}).empty());
  EXPECT_EQ(known_speeds({speed("mnist-cnn+2ranks", 1)}, place, {}).size(), 1u);
  place.with_data = true;
  EXPECT_TRUE(known_speeds({speed("mnist-cnn+2ranks", 1)}, place, {}).empty());
}

BenchRun run_of(const std::string& key, double sample, int round = 0) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {sample};
  run.key = key;
  run.round = round;
  run.session = "s";
  return run;
}

TEST(RowsOf, AnImageAreOneForEachName) {
  const std::vector<BenchRow> rows =
      rows_of({"a", {"x:1", "y:1"}, {}}, {run_of("a", 4), run_of("b", 9), run_of("a", 6, 1)}, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].image, "x:1");
  EXPECT_EQ(rows[1].image, "y:1");
  EXPECT_TRUE(rows[0].fresh);
  EXPECT_EQ(rows[0].runs.size(), 2u);
  EXPECT_EQ(rows[0].measurement.median, 5);
}

TEST(RowsOf, AnImageAreOfBeforeWhereNothingWasMeasured) {
  const SpeedsByName before{{"mnist-cnn", speed("mnist-cnn", 7)}};
  const std::vector<BenchRow> rows = rows_of({"a", {"x:1"}, {}}, {run_of("b", 9)}, before);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].fresh);
  EXPECT_TRUE(rows[0].runs.empty());
  EXPECT_EQ(rows[0].measurement.median, 7);
  EXPECT_EQ(rows_of({"a", {"x:1"}, {}}, {run_of("a", 9)}, before).at(0).measurement.median, 9);
  EXPECT_TRUE(rows_of({"a", {"x:1"}, {}}, {}, {}).empty());
}

BenchRow row(const std::string& key, bool fresh, double ratio = 0) {
  BenchRow one;
  one.measurement = speed("mnist-cnn", 10);
  one.measurement.key = key;
  one.measurement.rounds = kProvingRounds;
  one.fresh = fresh;
  if (ratio > 0) one.measurement.gains = {{"stock", ratio, ratio - 0.1, ratio + 0.1}};
  one.history = {one.measurement};
  return one;
}

TEST(GainsOf, RowsAreOverTheFirstThatWasMeasuredNow) {
  const auto gains = gains_of({row("tuned", true, 1.5), row("stock", true)});
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_FALSE(gains[0]) << "the yardstick itself";
  const auto over_stock = gains_of({row("old", false), row("stock", true), row("tuned", true, 1.5)});
  EXPECT_FALSE(over_stock[1]);
  ASSERT_TRUE(over_stock[2]);
  EXPECT_EQ(over_stock[2]->gain.ratio, 1.5);
  EXPECT_FALSE(gains_of({row("stock", false), row("stock", false)})[1]) << "the same bits";
}

TEST(Doubts, AreOfTheFiguresAndOfTheMarks) {
  BenchRow one = row("a", true);
  EXPECT_EQ(doubts_of(one), "");
  one.runs = {run_of("a", 1), run_of("a", 2)};
  one.runs[0].conditions.marks = {kUnderLoad};
  one.runs[1].conditions.marks = {kUnderLoad, kStolen};
  EXPECT_EQ(doubts_of(one), "time stolen, under load");
  one.measurement.low = 1;
  one.measurement.high = 100;
  const std::string doubt = doubt_about(one.measurement);
  ASSERT_FALSE(doubt.empty());
  EXPECT_EQ(doubts_of(one), doubt + "; time stolen, under load");
}

}  // namespace
}  // namespace kiln
