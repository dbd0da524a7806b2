#include "factory/bench/suite.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

Suite suite_of(const std::string& text) {
  return suite_from_json(JsonDocument::parse(text, "suite.json").root());
}

ExitCode suite_refusal(const std::string& text) {
  try {
    suite_of(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.where().file, "suite.json") << error.format();
    return error.code();
  }
  return ExitCode::ok;
}

TEST(Suite, AWorkloadTakesFromTheSuiteWhatItDoesNotSay) {
  const Suite suite = suite_of(R"({"name": "paper", "rounds": 5, "steps": 50, "workloads": [
    {"workload": "mnist-cnn", "cells": ["framework=pytorch", "framework=jax"], "exclude": ["compiler=xla"]},
    {"workload": "resnet50", "rounds": 2, "steps": 9, "ranks": 2, "data": "/data/images"}]})");
  EXPECT_EQ(suite.name, "paper");
  ASSERT_EQ(suite.workloads.size(), 2u);
  EXPECT_EQ(suite.workloads[0].rounds, 5);
  EXPECT_EQ(suite.workloads[0].steps, 50);
  EXPECT_EQ(suite.workloads[0].cells.size(), 2u);
  EXPECT_EQ(suite.workloads[0].exclude, std::vector<std::string>{"compiler=xla"});
  EXPECT_EQ(suite.workloads[1].rounds, 2);
  EXPECT_EQ(suite.workloads[1].steps, 9);
  EXPECT_EQ(suite.workloads[1].ranks, 2);
  EXPECT_TRUE(suite.workloads[1].cells.empty()) << "all of the matrix";
}

TEST(Suite, OneThatNamesNoCellIsNoMatch) {
  EXPECT_EQ(suite_refusal(R"({"name": "a", "workloads": []})"), ExitCode::no_match);
  EXPECT_EQ(suite_refusal(R"({"name": "a", "workloads": [{"workload": "count", "cells": []}]})"),
            ExitCode::no_match);
}

TEST(Suite, IsReadStrictly) {
  EXPECT_EQ(suite_refusal(R"({"name": "a"})"), ExitCode::input);
  EXPECT_EQ(suite_refusal(R"({"name": "a", "workloads": [{}]})"), ExitCode::input);
  EXPECT_EQ(suite_refusal(R"({"name": "a", "rounds": 0, "workloads": [{"workload": "count"}]})"),
            ExitCode::input);
  EXPECT_EQ(suite_refusal(R"({"name": "a", "workloads": [{"workload": "count", "cell": ["x"]}]})"),
            ExitCode::input);
}

}  // namespace
}  // namespace kiln
