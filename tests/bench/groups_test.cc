#include "factory/bench/groups.h"

#include <gtest/gtest.h>

#include "factory/base/date.h"
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
  const GroupComparison found = compare_groups(a, b, {"framework"});
  ASSERT_EQ(found.groups.size(), 2u);
  EXPECT_EQ(found.groups[0].values, std::vector<std::string>{"jax"});
  EXPECT_FALSE(found.groups[0].comparison.different());
  EXPECT_DOUBLE_EQ(found.groups[1].comparison.ratio, 2);
  EXPECT_EQ(found.groups[1].runs_b, 2u);
  EXPECT_EQ(found.only_a, (std::vector<std::vector<std::string>>{{"mxnet"}}));
  EXPECT_EQ(found.only_b, (std::vector<std::vector<std::string>>{{"cntk"}}));
  EXPECT_EQ(comparison_text(found.groups[1].comparison), "2.00 times as fast (2.00 to 2.00)");
  EXPECT_EQ(comparison_text(found.groups[0].comparison), "no difference (1.00 to 1.00)");
  const Json json = to_json(found);
  EXPECT_EQ(json["groups"][1]["group"]["framework"], "pytorch");
  EXPECT_EQ(json["only_a"][0]["framework"], "mxnet");
}

TEST(RunGroups, WarmUpIsNotCompared) {
  BenchRun slow_start = run_of("pytorch", "pip", {900, 10, 10, 10});
  slow_start.warm = 1;
  const GroupComparison found = compare_groups({slow_start}, {run_of("pytorch", "pip", {10})}, {"framework"});
  EXPECT_DOUBLE_EQ(found.groups[0].comparison.ratio, 1);
}

TEST(RunGroups, TwoUnitsDoNotCompare) {
  BenchRun rate = run_of("pytorch", "pip", {100});
  rate.unit = "images/s";
  try {
    compare_groups({run_of("pytorch", "pip", {10})}, {rate}, {"framework"});
    FAIL() << "they were compared";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(error.message().find("ms/step and in images/s"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
