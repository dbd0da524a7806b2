#include "factory/bench/conditions.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(ProcessorUse, OfThoseThatDidNotWait) {
  const std::string before =
      "cpu  100 0 100 1000 50 0 0 0 0 0\ncpu0 50 0 50 500 25 0 0 0 0 0\ncpu1 50 0 50 500 25 0 0 0 0 0\nintr "
      "1\n";
  const std::string idle =
      "cpu  100 0 100 1090 60 0 0 0 0 0\ncpu0 50 0 50 545 30 0 0 0 0 0\ncpu1 50 0 50 545 30 0 0 0 0 0\nintr "
      "1\n";
  const std::string one = "cpu  150 0 100 1045 55 0 0 0 50 0\ncpu0 x\ncpu1 x\n";
  EXPECT_DOUBLE_EQ(processor_use(before, idle).busy, 0);
  EXPECT_DOUBLE_EQ(processor_use(before, one).busy, 1);
  EXPECT_DOUBLE_EQ(processor_use(before, before).busy, 0);
  EXPECT_DOUBLE_EQ(processor_use("", "").busy, 0);
}

TEST(ProcessorUse, WhatAHypervisorTookIsSteal) {
  const std::string before = "cpu  0 0 0 0 0 0 0 10 0 0\ncpu0 x\n";
  const std::string after = "cpu  50 0 0 25 0 0 0 35 0 0\ncpu0 x\n";
  EXPECT_DOUBLE_EQ(processor_use(before, after).steal, 0.25);
  EXPECT_DOUBLE_EQ(processor_use(after, before).steal, 0) << "counters that fall say nothing";
}

TEST(Conditions, AreReadAsLinuxWritesThem) {
  EXPECT_DOUBLE_EQ(load_of("1.52 1.07 0.43 2/345 12345\n"), 1.52);
  EXPECT_DOUBLE_EQ(load_of(""), 0);
  EXPECT_EQ(processor_list({}), "");
  EXPECT_EQ(processor_list({3}), "3");
  EXPECT_EQ(processor_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(Conditions, TuningVariablesAreThoseOfMathematicsAndThreads) {
  const std::map<std::string, std::string> environment = {
      {"OPENBLAS_CORETYPE", "ZEN"}, {"OMP_NUM_THREADS", "7"},    {"MKL_DEBUG_CPU_TYPE", "5"},
      {"KMP_AFFINITY", "compact"},  {"ONEDNN_MAX_CPU_ISA", "1"}, {"PATH", "/bin"},
      {"COMPUTE_OMP_", "no"}};
  EXPECT_EQ(tuning_variables(environment).size(), 5u);
  EXPECT_FALSE(tuning_variables(environment).contains("PATH"));
}

TEST(Conditions, LoadIsMoreThanHalfAProcessorAndFivePerCent) {
  EXPECT_FALSE(is_under_load(0.5, 2));
  EXPECT_TRUE(is_under_load(0.6, 2));
  EXPECT_FALSE(is_under_load(3, 64));
  EXPECT_TRUE(is_under_load(3.3, 64));
}

}  // namespace
}  // namespace kiln
