// Intervals of checkpoints, against published figures.
#include <cmath>

#include "deploy/deploy_samples.h"
#include "registry/deploy/job_values.h"

namespace kiln {
namespace {

using namespace testing;

// blog.acolyer.org, 2015-06-10: 64 nodes that fail once a year each, 120 s for a checkpoint: "3 h".
TEST(CheckpointInterval, IsThePublishedOne) {
  const double between = mean_time_between_failures(1, 64);
  EXPECT_DOUBLE_EQ(between, 492'750);
  EXPECT_NEAR(young_interval(120, between), 10'875, 1);
  EXPECT_NEAR(daly_interval(120, between), 10'795, 1);
  EXPECT_NEAR(young_interval(120, 6 * 3600), 2'277, 1);
}

// The interval is the one that loses the least, by Daly's model of the whole time with exponential failures.
TEST(CheckpointInterval, LosesTheLeast) {
  auto cost = [](double interval, double write, double between) {
    return between * (std::exp((interval + write) / between) - 1) / interval;
  };
  for (double write : {1.0, 30.0, 600.0})
    for (double between : {3'000.0, 50'000.0, 1e7}) {
      const double best = daly_interval(write, between);
      for (double other : {0.8, 1.25})
        EXPECT_LT(cost(best, write, between), cost(other * best, write, between)) << write << " " << between;
    }
}

TEST(CheckpointInterval, IsThatOfFailuresWhereWritingTakesLonger) {
  EXPECT_EQ(daly_interval(200, 100), 100);
  EXPECT_EQ(daly_interval(500, 100), 100);
}

std::string job_with(const std::string& checkpoint, const std::string& more = "") {
  return document(R"("wall_time_limit": "24h")" + more,
                  R"("executable": "./a", "checkpoint": {"path": "/scratch/c")" + checkpoint + "}");
}

TEST(CheckpointInterval, IsInTheScriptWithItsReason) {
  const std::string text =
      script(job_with(R"(, "failure_rate": 1, "write_time": 120)", R"(, "node_count": 64)"));
  EXPECT_TRUE(holds(text, "export KILN_CHECKPOINT_INTERVAL=10795\n")) << text;
  EXPECT_TRUE(
      holds(text,
            "# an interval of 10795 s between checkpoints of 120 s: 64 nodes that fail 1 times a year "
            "have a failure each 492750 s (Daly)\n"))
      << text;
  const std::string by_size =
      script(job_with(R"(, "failure_rate": 2.5, "size": "40GB", "bandwidth": "2GB")"));
  const int expected = static_cast<int>(std::lround(daly_interval(20, mean_time_between_failures(2.5, 1))));
  EXPECT_TRUE(holds(by_size, fmt::format("KILN_CHECKPOINT_INTERVAL={}\n", expected))) << by_size;
  // Never 0, which would be the application's own.
  EXPECT_TRUE(holds(script(job_with(R"(, "failure_rate": 1e6, "size": "1K", "bandwidth": "1T")")),
                    "KILN_CHECKPOINT_INTERVAL=1\n"));
}

TEST(CheckpointInterval, WhatContradictsItselfIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(, "failure_rate": 0, "write_time": 1)", "failures of one node in a year"},
      {R"(, "failure_rate": 1e-300, "write_time": 1)", "from 0.000001 to 1000000"},
      {R"(, "failure_rate": -1, "write_time": 1)", "(at /job/application/checkpoint/failure_rate)"},
      {R"(, "failure_rate": 1)", "the time that a checkpoint takes"},
      {R"(, "failure_rate": 1, "size": "1G")", "the time that a checkpoint takes"},
      {R"(, "failure_rate": 1, "write_time": 1, "size": "1G")", "all three are too many"},
      {R"(, "failure_rate": 1, "interval": 60, "write_time": 1)", "'interval' is given as well"},
      {R"(, "failure_rate": 1, "size": "1", "bandwidth": "1G")", "(at /job/application/checkpoint/size)"},
      {R"(, "write_time": 1)", "'write_time' without 'failure_rate'"},
      {R"(, "failure_rte": 1)", "did you mean 'failure_rate'?"}};
  for (const auto& [checkpoint, words] : cases)
    EXPECT_TRUE(holds(refusal(job_with(checkpoint)), words)) << checkpoint << refusal(job_with(checkpoint));
}

}  // namespace
}  // namespace kiln
