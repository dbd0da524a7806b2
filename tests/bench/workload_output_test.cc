#include "factory/bench/workload_output.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

std::string refusal_of(const std::string& output) {
  try {
    read_workload_output(output, "mnist-cnn");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    return error.message();
  }
  return "";
}

TEST(Workload, TheLastLineCounts) {
  auto output =
      read_workload_output("noise {\n{\"unit\": \"ms/step\", \"samples\": [3, 1.5, 2]}\n\n", "mnist-cnn");
  ASSERT_EQ(output.metrics.size(), 1u);
  EXPECT_EQ(output.metrics[0].name, "");
  EXPECT_EQ(output.metrics[0].unit, "ms/step");
  EXPECT_EQ(output.metrics[0].samples, (std::vector<double>{3, 1.5, 2}));
  EXPECT_FALSE(output.metrics[0].first);
  EXPECT_EQ(output.threads, 0);
}

TEST(Workload, WhatElseItSaysIsKept) {
  auto output = read_workload_output(
      R"({"unit": "ms/step", "samples": [3], "first": 812.5, "threads": 2, "result": {"what": "loss falls", "ok": true}})",
      "mnist-cnn");
  EXPECT_EQ(output.metrics.at(0).first, 812.5);
  EXPECT_EQ(output.threads, 2);
  EXPECT_FALSE(output.rest.contains("samples"));
  EXPECT_EQ(output.rest["result"]["what"], "loss falls");
}

TEST(Workload, AnythingElseIsAnError) {
  EXPECT_NE(refusal_of("done").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal_of("").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal_of("[1]").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"samples": [1]})").find("has no unit"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "", "samples": [1]})").find("has no unit"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step"})").find("has no samples"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": []})").find("has no samples"), std::string::npos);
  EXPECT_NE(
      refusal_of(R"({"unit": "ms/step", "samples": [1, "2"]})").find("sample 2 is not a positive number"),
      std::string::npos);
}

TEST(Workload, MayHaveSeveralMetrics) {
  auto output = read_workload_output(
      R"({"metrics": {"prefill": {"unit": "tokens/s", "samples": [900, 910], "first": 500},)"
      R"( "decode": {"unit": "tokens/s", "samples": [30]}}, "threads": 2, "network": "tiny"})",
      "language-model");
  ASSERT_EQ(output.metrics.size(), 2u);
  EXPECT_EQ(output.metrics[0].name, "decode");
  EXPECT_EQ(output.metrics[0].samples, std::vector<double>{30});
  EXPECT_EQ(output.metrics[1].name, "prefill");
  EXPECT_EQ(output.metrics[1].first, 500);
  EXPECT_EQ(output.threads, 2);
  EXPECT_FALSE(output.rest.contains("metrics"));
  EXPECT_EQ(output.rest["network"], "tiny");
}

TEST(Workload, RefusesWrongMetrics) {
  auto says = [](const std::string& output, const std::string& what) {
    const std::string said = refusal_of(output);
    EXPECT_NE(said.find(what), std::string::npos) << output << ": " << said;
  };
  says(R"({"metrics": {}})", "has no metrics");
  says(R"({"metrics": [1]})", "has no metrics");
  says(R"({"metrics": {"a": 1}})", "a is not a JSON object");
  says(R"({"metrics": {"a": {"samples": [1]}}})", "a: has no unit");
  says(R"({"metrics": {"a": {"unit": "ms/step", "samples": [1, 0]}}})",
       "a: sample 2 is not a positive number");
  says(R"({"metrics": {"a.b": {"unit": "ms/step", "samples": [1]}}})", "names a metric \"a.b\"");
  says(R"({"metrics": {"": {"unit": "ms/step", "samples": [1]}}})", "names a metric \"\"");
  says(R"({"metrics": {"a+2ranks": {"unit": "ms/step", "samples": [1]}}})", "names a metric");
  says(R"({"unit": "ms/step", "samples": [1], "metrics": {"a": {"unit": "ms/step", "samples": [1]}}})",
       "has both samples and metrics");
}

TEST(Workload, NoClockShowsThis) {
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [1, NaN]})").find("says NaN"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [-Infinity]})").find("says Infinity"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [1e999]})"), "");
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [1, -2]})").find("does its clock fall?"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [0]})").find("does its clock fall?"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [1], "first": -1})").find("the first step"),
            std::string::npos);
}

TEST(Workload, AWrongResultHasNoSpeed) {
  EXPECT_NE(refusal_of(R"({"unit": "ms/step", "samples": [1], "result": {"ok": false, "value": 9}})")
                .find("computed a wrong result"),
            std::string::npos);
  EXPECT_EQ(refusal_of(R"({"unit": "ms/step", "samples": [1], "result": "fine"})"), "");
}

TEST(Interleaved, GoesThereAndBack) {
  EXPECT_EQ(interleaved(2, 2), (std::vector<Turn>{{0, 0}, {0, 1}, {1, 1}, {1, 0}}));
  EXPECT_EQ(interleaved(3, 1), (std::vector<Turn>{{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_TRUE(interleaved(0, 3).empty());
  // Each image is as early as late, over an even number of rounds.
  std::vector<std::size_t> sums(3);
  const std::vector<Turn> turns = interleaved(3, 4);
  for (std::size_t i = 0; i < turns.size(); ++i) sums[turns[i].image] += i;
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[1], sums[2]);
}

TEST(Interleaved, PlacesAreLetters) {
  EXPECT_EQ(place_name(0), "A");
  EXPECT_EQ(place_name(25), "Z");
  EXPECT_EQ(place_name(26), "AA");
  EXPECT_EQ(place_name(27), "AB");
}

}  // namespace
}  // namespace kiln
