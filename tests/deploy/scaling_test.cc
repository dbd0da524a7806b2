// Scaling models in a job. The law itself: tests/scaling/speedup_test.cc.
#include <gtest/gtest.h>

#include "deploy_samples.h"
#include "registry/deploy/deployment.h"

namespace kiln {
namespace {

ScalingModel model_of(const std::string& model) {
  return read_scaling_model(
      JsonDocument::parse(R"({"opt_dsl_code": "c", "model": )" + model + "}", "m.json").root());
}

TEST(Scaling, LowersRanksAndThreadsAndSaysWhy) {
  JobRequest job;
  job.ranks = 256;
  job.threads = 8;
  EXPECT_TRUE(scale(job, model_of(R"({"name": "amdahl", "F": 0.5})")).empty())
      << "no efficiency is asked for";
  job.efficiency = 0.2;
  EXPECT_EQ(scale(job, model_of(R"({"name": "amdahl", "F": 0.5})")),
            std::vector<std::string>{
                "9 ranks in place of 256: by the scaling model of c, more have an efficiency under 0.2"});
  EXPECT_EQ(*job.ranks, 9);
  const auto reasons = scale(job, model_of(R"({"name": "max", "max_nranks": 16, "max_nthreads": 4})"));
  EXPECT_EQ(reasons,
            std::vector<std::string>{"4 threads in place of 8: the scaling model of c allows no more"});
  EXPECT_EQ(*job.ranks, 9);
  EXPECT_EQ(*job.threads, 4);
  EXPECT_TRUE(scale(job, model_of(R"({"name": "no-op"})")).empty());
}

TEST(Scaling, WhatIsNoModelIsRefused) {
  for (const char* bad : {"{}", R"({"name": "amdhal", "F": 0.5})", R"({"name": "amdahl"})",
                          R"({"name": "amdahl", "F": 1})", R"({"name": "amdahl", "F": -0.1})",
                          R"({"name": "amdahl", "F": "x"})", R"({"name": "max", "max_nranks": 0})",
                          R"({"name": "max", "F": 0.5})", R"({"name": "noop", "F": 0.5})"})
    EXPECT_THROW(model_of(bad), Error) << bad;
}

}  // namespace
}  // namespace kiln
