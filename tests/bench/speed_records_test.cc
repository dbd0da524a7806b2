#include "factory/bench/speed_records.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

// A run of PyTorch in the image `key`, whose steps take `milliseconds`.
BenchRun timed_run(const std::string& key, double milliseconds, const std::string& session = "s") {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {milliseconds, milliseconds, milliseconds};
  run.key = key;
  run.name = "pytorch:" + key;
  run.axes.framework = "pytorch";
  run.axes.version = "2.6.0";
  run.axes.method = "pip";
  run.axes.compilers = {"inductor", "xla"};
  run.host.model = "AMD EPYC";
  run.host.cpu = "zen3";
  run.host.cores = 2;
  run.threads = 2;
  run.session = session;
  run.taken = "2026-11-24T12:00:00Z";
  run.output = {{"parameters", 1199882},
                {"batch", 128},
                {"device", "cpu"},
                {"input", {{"format", "float32 NHWC in memory"}, {"bytes", 401408}}}};
  return run;
}

BenchRun in_unit(const std::string& unit, double value) {
  BenchRun run = timed_run("a", value);
  run.unit = unit;
  return run;
}

double seconds_of(const BenchRun& run) {
  const ModelRecords found = speed_records({run});
  return found.records.size() == 1 ? found.records.front().seconds : 0;
}

TEST(SpeedRecords, AreOfImageWorkloadAndHost) {
  const ModelRecords found = speed_records({timed_run("a", 40)});
  EXPECT_TRUE(found.left_out.empty());
  ASSERT_EQ(found.records.size(), 1u);
  const SpeedRecord& record = found.records.front();
  EXPECT_EQ(record.workload, "mnist-cnn");
  EXPECT_EQ(record.image, "a");
  EXPECT_NEAR(record.seconds, 0.04, 1e-12);
  EXPECT_EQ(record.words.at("framework"), "pytorch");
  EXPECT_EQ(record.words.at("version"), "pytorch 2.6.0");
  EXPECT_EQ(record.words.at("compilers"), "inductor+xla");
  EXPECT_EQ(record.words.at("libraries"), "");
  EXPECT_EQ(record.words.at("device"), "cpu");
  EXPECT_EQ(record.words.at("precision"), "float32 NHWC in memory");
  EXPECT_EQ(record.amounts.at("parameters"), 1199882);
  EXPECT_EQ(record.amounts.at("batch"), 128);
  EXPECT_EQ(record.amounts.at("input_bytes"), 401408);
  EXPECT_EQ(record.amounts.at("threads"), 2);
  EXPECT_EQ(record.amounts.at("ranks"), 1);
}

TEST(SpeedRecords, TimesAndRatesBecomeSecondsOfAStep) {
  EXPECT_NEAR(seconds_of(in_unit("ms/step", 40)), 0.04, 1e-12);
  EXPECT_NEAR(seconds_of(in_unit("us/batch", 40)), 40e-6, 1e-15);
  EXPECT_NEAR(seconds_of(in_unit("s/step", 2)), 2, 1e-12);
  EXPECT_NEAR(seconds_of(in_unit("images/s", 64)), 2, 1e-12) << "a batch is 128";
  EXPECT_NEAR(seconds_of(in_unit("sequences/s", 256)), 0.5, 1e-12);
}

TEST(SpeedRecords, LeaveOutWhatIsNoTimeOfAStep) {
  BenchRun rate = in_unit("images/s", 64);
  rate.output.erase("batch");
  for (const BenchRun& run : {in_unit("GB/s", 9), in_unit("us/message", 1), in_unit("ms", 1), rate}) {
    const ModelRecords found = speed_records({run});
    EXPECT_TRUE(found.records.empty()) << run.unit;
    EXPECT_EQ(found.left_out, std::vector<std::string>{"1 in " + run.unit + ": not the time of a step"});
  }
  BenchRun other = in_unit("GB/s", 9);
  other.key = "b";
  other.session = "t";
  EXPECT_EQ(speed_records({in_unit("GB/s", 9), other}).left_out,
            std::vector<std::string>{"2 in GB/s: not the time of a step"});
}

TEST(SpeedRecords, TheLastSessionOfAnImageCounts) {
  BenchRun later = timed_run("a", 20, "t");
  later.taken = "2026-11-25T12:00:00Z";
  for (const auto& runs : {std::vector{timed_run("a", 40), later}, std::vector{later, timed_run("a", 40)}}) {
    const ModelRecords found = speed_records(runs);
    ASSERT_EQ(found.records.size(), 1u);
    EXPECT_NEAR(found.records.front().seconds, 0.02, 1e-12);
  }
}

TEST(SpeedRecords, RoundsThatAreNotCompleteDoNotCount) {
  BenchRun alone = timed_run("a", 90);
  alone.round = 1;  // in which "b" has no run
  const ModelRecords found = speed_records({timed_run("a", 40), timed_run("b", 30), alone});
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_NEAR(found.records[0].seconds, 0.04, 1e-12);
  EXPECT_NEAR(found.records[1].seconds, 0.03, 1e-12);
}

TEST(SpeedRecords, OtherThreadsAndHostsAreOtherRecords) {
  BenchRun one_thread = timed_run("a", 70, "t"), other_host = timed_run("a", 50, "u");
  one_thread.threads = 1;
  other_host.host.model = "Intel Xeon";
  other_host.threads = 0;  // not known
  const ModelRecords found = speed_records({timed_run("a", 40), one_thread, other_host});
  ASSERT_EQ(found.records.size(), 3u);
  EXPECT_EQ(std::count_if(found.records.begin(), found.records.end(),
                          [](const SpeedRecord& record) { return record.amounts.contains("threads"); }),
            2);
}

TEST(SpeedRecords, WhatAWorkloadDoesNotSayIsNotKnown) {
  BenchRun silent = timed_run("a", 40);
  silent.output = {{"parameters", -1}, {"batch", "128"}, {"device", 7}, {"input", "synthetic"}};
  const ModelRecords found = speed_records({silent});
  ASSERT_EQ(found.records.size(), 1u);
  for (const char* name : {"parameters", "batch", "input_bytes"})
    EXPECT_FALSE(found.records.front().amounts.contains(name)) << name;
  EXPECT_EQ(found.records.front().words.at("device"), "");
  EXPECT_TRUE(speed_records({}).records.empty());
}

TEST(SpeedRecords, RefuseAHostThatCannotBe) {
  BenchRun liar = timed_run("a", 40);
  liar.host.rates = {{"triad", 90'000}};
  EXPECT_THROW(speed_records({liar}), Error);
}

}  // namespace
}  // namespace kiln
