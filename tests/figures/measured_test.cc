#include "factory/figures/measured.h"

#include <gtest/gtest.h>

#include "figures/run_samples.h"

namespace kiln::testing {
namespace {

TEST(Measured, GivesEachImageItsMedianAndInterval) {
  const auto sets = measured_sets(made_up_runs({{.median = 100}}));
  ASSERT_EQ(sets.size(), 1u);
  ASSERT_EQ(sets[0].images.size(), 1u);
  const MeasuredImage& image = sets[0].images[0];
  EXPECT_EQ(image.runs.size(), 3u);
  EXPECT_NEAR(image.speed.value, 100.2, 0.01);
  EXPECT_LE(image.speed.low, image.speed.value);
  EXPECT_GE(image.speed.high, image.speed.value);
  EXPECT_GT(image.speed.low, 98);  // warm-up, 170, is not in it
  EXPECT_LT(image.speed.high, 102);
}

// What may not stand beside each other is a set of its own.
TEST(Measured, NeverMixesUnitsHostsOrThreads) {
  for (void (*change)(BenchRun & run) : {
           +[](BenchRun& run) { run.unit = "images/s"; },
           +[](BenchRun& run) { run.host.model = "Another processor"; },
           +[](BenchRun& run) { run.host.cores = 4; },
           +[](BenchRun& run) { run.host.accelerators = {"nvidia:sm_90"}; },
           +[](BenchRun& run) { run.threads = 1; },
           +[](BenchRun& run) { run.workload = "resnet50"; },
           +[](BenchRun& run) { run.axes.accelerator = "nvidia:sm_90"; },
           +[](BenchRun& run) {
             run.output = {{"batch", 96}};
           },
           +[](BenchRun& run) {
             run.output = {{"input", {{"kind", "path"}}}};
           },
       }) {
    BenchRun other = made_up_run({.framework = "jax"});
    change(other);
    EXPECT_EQ(measured_sets({made_up_run({}), other}).size(), 2u) << to_json(other).dump();
  }
  BenchRun other = made_up_run({.framework = "jax"});
  other.host.kernel = "6.12";
  other.host.memory_bytes = 1;
  EXPECT_EQ(measured_sets({made_up_run({}), other}).size(), 1u);
}

TEST(Measured, RefusesUnitsOfWhichTheBetterEndIsNotKnown) {
  BenchRun run = made_up_run({});
  run.unit = "wallops";
  try {
    measured_sets({run});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(error.format().find("whether more or less of 'wallops' is better"), std::string::npos);
  }
}

TEST(Measured, KnowsTheNewestBitsOfANameOnly) {
  std::vector<BenchRun> runs = made_up_runs({{.median = 100}});
  runs[0].image = Digest::of("older bits");
  const auto sets = measured_sets(runs);
  EXPECT_EQ(sets[0].images[0].runs.size(), 2u);
  EXPECT_EQ(sets[0].images[0].earlier, 1u);
}

TEST(Measured, OrdersVersionsAsVersions) {
  const auto sets = measured_sets(
      made_up_runs({{.version = "2.10"}, {.version = "2.9"}, {.version = "2.9", .stock = false}}));
  ASSERT_EQ(sets[0].images.size(), 2u);  // of one name
  EXPECT_EQ(sets[0].images[0].axes.version, "2.9");
}

TEST(Measured, CollectsMarksAndDays) {
  std::vector<BenchRun> runs = made_up_runs({{}});
  runs[1].conditions.marks = {"under load"};
  runs[2].conditions.marks = {"under load", "frequency changed"};
  const auto sets = measured_sets(runs);
  EXPECT_EQ(sets[0].images[0].marks, (std::vector<std::string>{"frequency changed", "under load"}));
  EXPECT_EQ(circumstance_lines(sets[0]),
            (std::vector<std::string>{"mnist-cnn, 2 threads", "Made-up processor, 2 processors",
                                      "2026-11-20 to 2026-11-22, kiln test data"}));
}

TEST(Measured, SaysGainsAndLossesInTheSameWords) {
  const auto sets =
      measured_sets(made_up_runs({{.version = "1", .median = 100}, {.version = "2", .median = 50}}));
  const MeasuredImage &slow = sets[0].images[0], &fast = sets[0].images[1];
  EXPECT_TRUE(gain_text(*compare_images(slow, fast), "it").starts_with("2.00 times as fast as it ("));
  EXPECT_TRUE(gain_text(*compare_images(fast, slow), "it").starts_with("0.50 times as fast as it ("));
  EXPECT_TRUE(gain_text(*compare_images(slow, slow), "it").starts_with("no difference to it ("));
}

std::vector<BenchRun> in_session(std::vector<BenchRun> runs, const std::string& session,
                                 const std::string& day) {
  for (BenchRun& run : runs) {
    run.session = session;
    run.taken = day + "T10:00:00Z";
  }
  return runs;
}

void append(std::vector<BenchRun>& runs, std::vector<BenchRun> more) {
  for (BenchRun& run : more) runs.push_back(std::move(run));
}

// The last session is the figure; an earlier one, such as under load, is no part of it.
TEST(Measured, TakesTheLastSessionAlone) {
  std::vector<BenchRun> runs =
      in_session(made_up_runs({{.version = "1", .median = 300}, {.version = "2", .median = 310}}), "monday",
                 "2026-11-23");
  append(runs, in_session(made_up_runs({{.version = "1", .median = 100}, {.version = "2", .median = 100}}),
                          "tuesday", "2026-11-24"));
  const auto sets = measured_sets(runs);
  const MeasuredImage &one = sets[0].images[0], &two = sets[0].images[1];
  EXPECT_NEAR(one.speed.value, 100.2, 0.1);
  EXPECT_EQ(one.runs.size(), 3u);
  EXPECT_EQ(one.earlier, 3u);
  EXPECT_FALSE(compare_images(one, two)->different());
  EXPECT_EQ(sets[0].first_day, "2026-11-24");
}

TEST(Measured, ComparesNoImagesOfTwoSessions) {
  std::vector<BenchRun> runs = in_session(made_up_runs({{.version = "1"}}), "monday", "2026-11-23");
  append(runs, in_session(made_up_runs({{.version = "2", .median = 50}}), "tuesday", "2026-11-24"));
  const auto sets = measured_sets(runs);
  EXPECT_FALSE(compare_images(sets[0].images[0], sets[0].images[1]));
}

}  // namespace
}  // namespace kiln::testing
