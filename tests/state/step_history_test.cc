// The history of steps' runs, what is predicted from it, and its file.
#include "factory/state/step_history.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

constexpr std::uint64_t kGiB = 1u << 30;

PastRun run_of(const std::string& key, double seconds, std::uint64_t memory,
               const std::string& version = "1.0") {
  PastRun run;
  run.key = key;
  run.kind = "run";
  run.component = "framework/thing";
  run.version = version;
  run.method = "source";
  run.host = "nid001";
  run.time = 1'700'000'000;
  run.seconds = seconds;
  run.memory = {memory, memory + 5, MemorySource::cgroup1};
  return run;
}

std::vector<std::string> keys_of_runs(const std::vector<PastRun>& runs) {
  std::vector<std::string> keys;
  for (const PastRun& run : runs) keys.push_back(run.key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(StepHistory, ALineIsReadAsItWasWritten) {
  PastRun run = run_of("a", 2.5, 7 * kGiB);
  run.end = PastRun::End::out_of_memory;
  const std::string line = history_line(run);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const std::vector<PastRun> read = parse_history(line);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(history_line(read[0]), line);
  EXPECT_EQ(read[0].end, PastRun::End::out_of_memory);
  EXPECT_EQ(read[0].memory.source, MemorySource::cgroup1);
  EXPECT_EQ(read[0].memory.with_files, 7 * kGiB + 5);
}

TEST(StepHistory, DamagedLinesAreLeftOut) {
  const std::string line = history_line(run_of("a", 1, 1));
  std::string end = line;
  end.replace(end.find("done"), 4, "doze");
  std::string negative = line;
  negative.replace(negative.find("\"seconds\":1"), 11, "\"seconds\":-1");
  const std::string text = line + "{\"key\": \n" + end + negative + std::string(3, '\0') + "\n\n" +
                           history_line(run_of("b", 1, 1)) + line.substr(0, line.size() / 2);
  EXPECT_EQ(keys_of_runs(parse_history(text)), (Keys{"a", "b"}));
}

TEST(StepHistory, OfAComponentOnly) {
  PastRun other = run_of("b", 1, 1);
  other.component = "framework/thing-else";
  const std::string text = history_line(run_of("a", 1, 1)) + history_line(other);
  EXPECT_EQ(keys_of_runs(parse_history(text, "framework/thing")), Keys{"a"});
}

TEST(StepHistory, WhatHasGrownKeepsFiveOfEachAndThoseThatAreNew) {
  std::vector<PastRun> runs = {run_of("rare", 1, 1)};
  for (int i = 0; i < 100; ++i) runs.push_back(run_of("often", i, 1));
  const std::vector<PastRun> kept = without_oldest(runs, 1 << 20);
  EXPECT_EQ(keys_of_runs(kept), (Keys{"rare", "often", "often", "often", "often", "often"}));
  EXPECT_EQ(kept[1].seconds, 95);
  EXPECT_EQ(keys_of_runs(without_oldest(runs, history_line(runs[1]).size() * 2 + 10)),
            (Keys{"often", "often"}));
}

TEST(StepHistoryFile, WhatAKilledWriterLeftIsALineOfItsOwn) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder / "history.jsonl";
  EXPECT_TRUE(read_history(file).empty());
  ASSERT_TRUE(record_run(file, run_of("a", 1, 1)));
  std::ofstream(file, std::ios::app) << "{\"key\":\"half";
  ASSERT_TRUE(record_run(file, run_of("b", 1, 1)));
  EXPECT_EQ(keys_of_runs(read_history(file)), (Keys{"a", "b"}));
}

TEST(StepHistoryFile, ManyWriteAtOnceAndItStaysSmall) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder / "history.jsonl";
  PastRun large = run_of("x", 1, 1);
  large.host = std::string(100'000, 'h');  // shortened after some forty
  std::vector<pid_t> writers;
  for (int i = 0; i < 4; ++i) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    bool good = true;
    for (int n = 0; n < 12; ++n) {
      large.key = std::to_string(i) + "-" + std::to_string(n);
      good = record_run(file, large) && good;
    }
    ::_exit(good ? 0 : 1);
  }
  for (pid_t writer : writers) {
    int status = 1;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::vector<PastRun> runs = read_history(file);
  EXPECT_GE(runs.size(), 10u);
  EXPECT_LT(fs::file_size(file), 4u << 20);
  EXPECT_TRUE(record_run(file, run_of("last", 1, 1)));
  EXPECT_EQ(read_history(file).back().key, "last");
}

TEST(StepHistoryFile, WithoutTheRightToWriteThereIsNone) {
  EXPECT_FALSE(record_run("/proc/history.jsonl", run_of("a", 1, 1)));
}

TEST(StepNeed, NothingIsKnownWithoutAHistory) {
  const StepNeed need = need_of(run_of("a", 0, 0), {});
  EXPECT_EQ(need.like, StepNeed::Like::nothing);
  EXPECT_EQ(need.memory, 0u);
}

TEST(StepNeed, IsTheMostOfTheLastFiveOfTheSameStepAndAQuarter) {
  std::vector<PastRun> history = {run_of("a", 1000, 100 * kGiB)};  // the sixth
  for (std::uint64_t gib : {4, 2, 8, 4, 2})
    history.push_back(run_of("a", 10.0 + static_cast<double>(gib), gib * kGiB));
  history.push_back(run_of("other", 1, 50 * kGiB));
  const StepNeed need = need_of(run_of("a", 0, 0), history);
  EXPECT_EQ(need.like, StepNeed::Like::step);
  EXPECT_EQ(need.runs, 5u);
  EXPECT_EQ(need.memory, 10 * kGiB);
  EXPECT_DOUBLE_EQ(need.seconds, 14);
  EXPECT_NEAR(need.deviation, 2.449, 0.001);
}

TEST(StepNeed, TheNearestKindDecides) {
  PastRun elsewhere = run_of("d", 40, 4 * kGiB, "2.0");
  PastRun test = run_of("t", 1, kGiB);
  test.kind = "test";
  PastRun stranger = run_of("s", 1, kGiB);
  stranger.component = "framework/else";
  const std::vector<PastRun> history = {run_of("b", 20, 2 * kGiB), elsewhere, test, stranger};
  const StepNeed method = need_of(run_of("a", 0, 0), history);
  EXPECT_EQ(method.like, StepNeed::Like::method);
  EXPECT_EQ(method.memory, 3 * kGiB) << "half as much again";
  EXPECT_DOUBLE_EQ(method.seconds, 20);
  EXPECT_DOUBLE_EQ(method.deviation, 10) << "of one run";
  const StepNeed component = need_of(run_of("a", 0, 0, "3.0"), history);
  EXPECT_EQ(component.like, StepNeed::Like::component);
  EXPECT_EQ(component.memory, 6 * kGiB);
  PastRun pull = run_of("a", 0, 0);
  pull.kind = "pull";
  EXPECT_EQ(need_of(pull, history).like, StepNeed::Like::nothing);
}

TEST(StepNeed, OutOfMemoryIsTwiceWhatItHadAndOtherFailuresAreNothing) {
  std::vector<PastRun> history = {run_of("a", 10, kGiB), run_of("a", 3, 4 * kGiB), run_of("a", 1, 90 * kGiB)};
  history[1].end = PastRun::End::out_of_memory;
  history[2].end = PastRun::End::failed;
  const StepNeed need = need_of(run_of("a", 0, 0), history);
  EXPECT_EQ(need.memory, 10 * kGiB);
  EXPECT_DOUBLE_EQ(need.seconds, 10);
}

}  // namespace
}  // namespace kiln
