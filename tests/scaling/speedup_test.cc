#include "registry/scaling/speedup.h"

#include <gtest/gtest.h>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

std::int64_t chosen(const std::string& model, std::int64_t asked, std::optional<double> least) {
  return choose_ranks(read_speedup_model(model), asked, least);
}

std::string model_refusal(const std::string& text) {
  return input_error([&] { read_speedup_model(text); });
}

FittedSpeedup fitted(const std::string& times, SpeedupLaw law = SpeedupLaw::amdahl) {
  return fit_speedup(law, read_timed_runs(times, "--times"));
}

TEST(Speedup, AnswersAsModakDoes) {
  EXPECT_EQ(chosen("noop", 80, 0.5), 80);
  EXPECT_EQ(chosen("no-op", 80, 0.5), 80);
  EXPECT_EQ(chosen("max:64", 80, std::nullopt), 64);
  EXPECT_EQ(chosen("max:64", 8, 0.9), 8);
  EXPECT_EQ(chosen("amdahl:0.5", 256, 0.2), 9);
  EXPECT_EQ(chosen("amdahl:0.999", 256, 0.8), 251);
  EXPECT_EQ(chosen("amdahl:0.999", 256, 0.1), 256);
  EXPECT_EQ(chosen("amdahl:0.9", 80, 0.5), 11);
  EXPECT_EQ(chosen("amdahl:0.9", 80, std::nullopt), 80);
}

// MODAK rounds 2.6 to 3 ranks, whose efficiency is 0.476.
TEST(Speedup, NeverChoosesLessEfficiencyThanAskedFor) {
  const SpeedupModel model = read_speedup_model("amdahl:0.45");
  EXPECT_EQ(choose_ranks(model, 80, 0.5), 2);
  EXPECT_LT(efficiency_of(model, 3), 0.5);
  EXPECT_EQ(chosen("amdahl:0", 80, 1), 1);
  EXPECT_EQ(chosen("amdahl:0.5", 80, 1), 1);
}

TEST(Speedup, AmdahlHasTheMostRanksOfAnEfficiency) {
  for (int f = 0; f < 100; ++f)
    for (int e = 1; e <= 100; ++e) {
      const SpeedupModel model{SpeedupLaw::amdahl, f / 100.0, 0};
      const std::int64_t ranks = choose_ranks(model, 100'000'000, e / 100.0);
      EXPECT_GE(ranks, 1);
      EXPECT_GE(efficiency_of(model, ranks), e / 100.0 - 1e-9) << f << " " << e;
      EXPECT_LT(efficiency_of(model, ranks + 1), e / 100.0) << f << " " << e;
    }
}

TEST(Speedup, GustafsonGrowsWithTheRanks) {
  const SpeedupModel model = read_speedup_model("gustafson:0.9");
  EXPECT_DOUBLE_EQ(10 * efficiency_of(model, 10), 10 - 0.1 * 9);  // n - s (n - 1)
  EXPECT_EQ(choose_ranks(model, 80, 0.9), 80);
  EXPECT_EQ(choose_ranks(model, 80, 0.91), 10);
  EXPECT_EQ(choose_ranks(model, 80, 1), 1);
}

TEST(Speedup, RefusesModelsWithoutMeaning) {
  EXPECT_EQ(model_refusal("amdal:0.9"),
            "error: unknown scaling model 'amdal'; noop, max:64, amdahl:0.9 and gustafson:0.9 are known");
  EXPECT_EQ(model_refusal("amdahl:1"),
            "error: the parallel share of amdahl is 1: expected less than 1; noop is the model of a program "
            "that is parallel throughout");
  EXPECT_EQ(model_refusal("amdahl:nan"), "error: the parallel share of amdahl: 'nan' is not a number over 0");
  EXPECT_EQ(model_refusal("amdahl"), "error: the parallel share of amdahl: '' is not a number over 0");
  EXPECT_EQ(model_refusal("noop:3"), "error: the scaling model noop has no value, and '3' is one");
  EXPECT_EQ(model_refusal("max:0"),
            "error: the scaling model max: 0 ranks; the least is 1 and the most 1048576");
}

// Code_Aster with MPICH and PETSc, and with a centralised matrix (SODALITE-EU/performance-model, Apache-2.0):
// fitted on up to 6 ranks, as its authors' analysis_amdahl does.
TEST(Speedup, FitsAmdahlAsModaksAuthors) {
  const FittedSpeedup mpich = fitted("1:142.24,2:104.44,4:87.12,6:73.03");
  EXPECT_NEAR(mpich.model.parallel, 0.5424, 5e-5);
  EXPECT_NEAR(efficiency_of(mpich.model, 10), 0.1954, 1e-4);  // measured: 0.2015
  EXPECT_NEAR(efficiency_of(mpich.model, 14), 0.1439, 1e-4);  // measured: 0.1458
  EXPECT_LT(mpich.low, mpich.model.parallel);
  EXPECT_GT(mpich.high, mpich.model.parallel);
  EXPECT_NEAR(fitted("1:142.44,2:102.71,4:84.75,6:78.75").model.parallel, 0.5445, 1e-4);
  const FittedSpeedup central = fitted("1:1049.26,2:773.33,4:481.76,6:454.46");
  EXPECT_NEAR(central.model.parallel, 0.6667, 1e-4);
  EXPECT_NEAR(efficiency_of(central.model, 8), 0.300, 5e-4);
}

TEST(Speedup, FindsTheShareThatMadeTheTimes) {
  EXPECT_NEAR(fitted("1:100,2:55,4:32.5,8:21.25").model.parallel, 0.9, 1e-6);
  EXPECT_NEAR(fitted("1:10,2:10,4:10").model.parallel, 0, 1e-6);  // no rank helps
  const FittedSpeedup weak = fitted("1:9,2:10,4:10.588235294117647", SpeedupLaw::gustafson);
  EXPECT_NEAR(weak.model.parallel, 0.8, 1e-6);
  EXPECT_NEAR(weak.error, 0, 1e-6);
}

TEST(Speedup, RefusesTimesThatCannotBeFitted) {
  auto refusal = [](const std::string& times) { return input_error([&] { fitted(times); }); };
  EXPECT_EQ(refusal("1:10,2:5"), "error: 2 times are too few for amdahl: at least 3 are needed");
  EXPECT_EQ(refusal("2:10,4:5,8:3"),
            "error: --times: there is no time of one rank; efficiencies compare with one rank");
  EXPECT_EQ(refusal("1:10,2:5,2:6"), "error: --times: 2 ranks have two times");
  EXPECT_EQ(refusal("1:10,2:nan,4:3"), "error: --times: 'nan' is not a number over 0");
  EXPECT_EQ(refusal("1:10,2:0,4:3"), "error: --times: '0' is not a number over 0");
  EXPECT_EQ(refusal("1:10,2"), "error: --times: '2' is not RANKS:SECONDS; write 1:142.24,2:104.44,4:87.12");
}

}  // namespace
}  // namespace kiln::testing
