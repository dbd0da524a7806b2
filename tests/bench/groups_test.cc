#include "factory/bench/groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/error.h"

namespace kiln {
namespace {

BenchRun run_of(const std::string& framework, const std::string& method, std::vector<double> samples,
                const std::string& taken = "2026-11-24T12:00:00Z") {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.axes.framework = framework;
  run.axes.method = method;
  run.samples = std::move(samples);
  run.host.model = "AMD EPYC";
  run.host.cores = 2;
  run.name = framework + ":" + method;
  run.taken = taken;
  return run;
}

std::string choice_error(const std::string& text) {
  try {
    parse_run_choice(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "";
}

TEST(RunChoice, TakesByColumnAndGlob) {
  const BenchRun run = run_of("pytorch", "pip", {1});
  EXPECT_TRUE(parse_run_choice("framework=py*").has(run));
  EXPECT_TRUE(parse_run_choice("framework=jax,framework=pytorch,method=pip").has(run)) << "of one column any";
  EXPECT_FALSE(parse_run_choice("framework=pytorch, method=source").has(run)) << "of two both";
  EXPECT_TRUE(parse_run_choice("compiler=none,library=none,stock=no").has(run));
  EXPECT_TRUE(parse_run_choice("host=*EPYC x 2").has(run));
}

TEST(RunChoice, TakesByDate) {
  const BenchRun run = run_of("pytorch", "pip", {1});
  EXPECT_TRUE(parse_run_choice("since=2026-11-24").has(run));
  EXPECT_TRUE(parse_run_choice("until=2026-11-24").has(run)) << "the day is meant as a whole";
  EXPECT_FALSE(parse_run_choice("until=2026-11-24T12:00:00Z").has(run));
  EXPECT_FALSE(parse_run_choice("since=2026-11-25").has(run));
}

TEST(RunChoice, SaysWhatIsWrong) {
  EXPECT_NE(choice_error("nowhere.txt").find("no such file"), std::string::npos);
  EXPECT_NE(choice_error("colour=red").find("no column 'colour'"), std::string::npos);
  EXPECT_NE(choice_error("since=yesterday").find("a date is"), std::string::npos);
  EXPECT_NE(choice_error("snapshot=x").find("a snapshot is a number"), std::string::npos);
  EXPECT_NE(choice_error("=x"), "");
  EXPECT_NE(choice_error(""), "");
}

TEST(RunGroups, WhatASideNamesIsNotInCommon) {
  const std::vector<std::string> columns =
      common_columns(parse_run_choice("compiler=none"), parse_run_choice("compiler=xla"));
  EXPECT_EQ(columns,
            (std::vector<std::string>{"workload", "framework", "version", "method", "target", "library",
                                      "runtime", "accelerator", "threads", "ranks", "input", "host"}));
  const std::vector<std::string> stock =
      common_columns(parse_run_choice("stock=yes"), parse_run_choice("stock=no"));
  EXPECT_EQ(std::count(stock.begin(), stock.end(), "method"), 0);
  EXPECT_EQ(std::count(stock.begin(), stock.end(), "version"), 1);
}

TEST(RunGroups, AreComparedOneByOne) {
  const std::vector<BenchRun> a = {run_of("pytorch", "pip", {10, 10, 10}), run_of("jax", "pip", {8, 8, 8}),
                                   run_of("mxnet", "pip", {3})};
  const std::vector<BenchRun> b = {run_of("pytorch", "source", {5, 5, 5}), run_of("pytorch", "source", {5}),
                                   run_of("jax", "source", {8, 8, 8}), run_of("cntk", "pip", {3})};
  const GroupComparison found = compare_groups(a, b, {"framework"}, Apart::refuse);
  ASSERT_EQ(found.pairs.size(), 2u);
  EXPECT_EQ(found.pairs[0].values, std::vector<std::string>{"jax"});
  EXPECT_FALSE(found.pairs[0].gain.different());
  EXPECT_DOUBLE_EQ(found.pairs[1].gain.ratio, 2);
  EXPECT_DOUBLE_EQ(found.pairs[1].median_a, 10);
  EXPECT_DOUBLE_EQ(found.pairs[1].median_b, 5);
  EXPECT_EQ(found.pairs[1].runs_b, 2u);
  EXPECT_EQ(found.only_a, (std::vector<std::vector<std::string>>{{"mxnet"}}));
  EXPECT_EQ(found.only_b, (std::vector<std::vector<std::string>>{{"cntk"}}));
  EXPECT_EQ(gain_text(found.pairs[1].gain), "2.00 times as fast (2.00 to 2.00)");
  EXPECT_EQ(gain_text(found.pairs[0].gain), "no difference (1.00 to 1.00)");
  const Json json = to_json(found);
  EXPECT_EQ(json["groups"][1]["group"]["framework"], "pytorch");
  EXPECT_EQ(json["only_a"][0]["framework"], "mxnet");
}

TEST(RunGroups, WarmUpIsNotCompared) {
  BenchRun slow_start = run_of("pytorch", "pip", {900, 10, 10, 10});
  slow_start.warm = 1;
  const GroupComparison found =
      compare_groups({slow_start}, {run_of("pytorch", "pip", {10})}, {"framework"}, Apart::refuse);
  EXPECT_DOUBLE_EQ(found.pairs[0].gain.ratio, 1);
}

BenchRun in(const std::string& session, BenchRun run, const std::string& files = "f1") {
  run.session = session;
  run.workload_files = files;
  return run;
}

// Each image with each: two builds of one side are two rows, and never one mixture.
TEST(RunGroups, ComparesImagesAndNotMixtures) {
  const std::vector<BenchRun> a = {in("s", run_of("pytorch", "pip", {10, 10}))};
  const std::vector<BenchRun> b = {in("s", run_of("pytorch", "source", {5, 5})),
                                   in("s", run_of("pytorch", "distro", {20, 20}))};
  const GroupComparison found = compare_groups(a, b, {"framework"}, Apart::refuse);
  ASSERT_EQ(found.pairs.size(), 2u);
  EXPECT_EQ(found.pairs[0].image_b, "pytorch:distro");
  EXPECT_DOUBLE_EQ(found.pairs[0].gain.ratio, 0.5);
  EXPECT_EQ(found.pairs[1].image_b, "pytorch:source");
  EXPECT_DOUBLE_EQ(found.pairs[1].gain.ratio, 2);
}

// Two equal builds, of which one was measured on a busy evening as well, are equal.
TEST(RunGroups, OtherSessionsAreNoPartOfAGain) {
  const std::string evening = "2026-11-23T20:00:00Z", night = "2026-11-24T02:00:00Z";
  const std::vector<BenchRun> a = {in("evening", run_of("pytorch", "pip", {80, 75, 70}, evening)),
                                   in("night", run_of("pytorch", "pip", {10, 10, 10}, night))};
  const std::vector<BenchRun> b = {in("night", run_of("pytorch", "source", {10, 10, 10}, night))};
  const GroupComparison found = compare_groups(a, b, {"framework"}, Apart::refuse);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(gain_text(found.pairs[0].gain), "no difference (1.00 to 1.00)");
  EXPECT_EQ(found.pairs[0].runs_a, 1u);
}

TEST(RunGroups, WithoutACommonSessionThereIsNoGain) {
  const std::vector<BenchRun> a = {in("one", run_of("pytorch", "pip", {10}))};
  const std::vector<BenchRun> b = {in("two", run_of("pytorch", "source", {5}))};
  GroupComparison found = compare_groups(a, b, {"framework"}, Apart::refuse);
  EXPECT_TRUE(found.pairs.empty());
  ASSERT_EQ(found.apart.size(), 1u);
  EXPECT_EQ(to_json(found)["apart"][0]["images"]["b"], "pytorch:source");

  found = compare_groups(a, b, {"framework"}, Apart::compare);  // another host or time is asked for
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_DOUBLE_EQ(found.pairs[0].gain.ratio, 2);
  EXPECT_EQ(found.pairs[0].marks, std::set<std::string>{"different sessions"});
}

TEST(RunGroups, TwoVersionsOfAWorkloadNeverCompare) {
  const std::vector<BenchRun> a = {in("one", run_of("pytorch", "pip", {10}), "old")};
  const std::vector<BenchRun> b = {in("two", run_of("pytorch", "pip", {5}), "new")};
  EXPECT_EQ(compare_groups(a, b, {"framework"}, Apart::compare).apart.size(), 1u);
  const std::vector<BenchRun> again = {in("two", run_of("pytorch", "pip", {5}), "old")};
  EXPECT_EQ(compare_groups(a, again, {"framework"}, Apart::compare).pairs.size(), 1u);
}

TEST(RunChoice, TakesBySessionAndMark) {
  BenchRun run = in("2026-11-24T12:00:00Z-0a", run_of("pytorch", "pip", {1}));
  EXPECT_TRUE(parse_run_choice("session=2026-11-24*").has(run));
  EXPECT_FALSE(parse_run_choice("mark=under load").has(run));
  run.conditions.marks = {"under load"};
  EXPECT_TRUE(parse_run_choice("mark=under*").has(run));
  EXPECT_TRUE(parse_run_choice("host=*EPYC*").names_session());
  EXPECT_TRUE(parse_run_choice("until=2026-11-24").names_session());
  EXPECT_FALSE(parse_run_choice("stock=yes,mark=*").names_session());
}

ComparedPair pair_of(const std::string& workload, double ratio, double low, double high) {
  ComparedPair pair;
  pair.values = {workload};
  pair.gain.ratio = ratio;
  pair.gain.low = low;
  pair.gain.high = high;
  return pair;
}

TEST(MeanGain, IsGeometricAndItsIntervalNarrowerThanThoseOfItsGroups) {
  GroupComparison found;
  found.columns = {"workload"};
  found.pairs = {pair_of("a", 2, 1.6, 2.5), pair_of("b", 0.5, 0.4, 0.625)};
  const auto mean = mean_gain(found);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->ratio, 1, 1e-12) << "twice as fast and half as fast are no gain";
  const double half = std::log(2.5 / 1.6) / 2 / std::sqrt(2.0);
  EXPECT_NEAR(std::log(mean->low), -half, 1e-12);
  EXPECT_NEAR(std::log(mean->high), half, 1e-12);
  EXPECT_FALSE(mean->different());
  EXPECT_NEAR(to_json(found)["mean"]["high"].get<double>(), mean->high, 1e-12);
}

TEST(MeanGain, NeedsSeveralGroupsWithOnePairEach) {
  GroupComparison found;
  found.columns = {"workload"};
  EXPECT_FALSE(mean_gain(found));
  found.pairs = {pair_of("a", 2, 1, 3)};
  EXPECT_FALSE(mean_gain(found));
  EXPECT_FALSE(to_json(found).contains("mean"));
  found.pairs = {pair_of("a", 2, 1, 3), pair_of("a", 3, 1, 4), pair_of("b", 2, 1, 3)};
  EXPECT_FALSE(mean_gain(found)) << "two images of one group";
}

TEST(RunGroups, TwoUnitsDoNotCompare) {
  BenchRun rate = run_of("pytorch", "pip", {100});
  rate.unit = "images/s";
  try {
    compare_groups({run_of("pytorch", "pip", {10})}, {rate}, {"framework"}, Apart::refuse);
    FAIL() << "they were compared";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(error.message().find("some runs are in ms/step, others in images/s"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
