#include "factory/app/tuning.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

TuningTrial trial_of(double milliseconds, TrialEnd end = TrialEnd::complete) {
  TuningTrial trial;
  trial.end = end;
  trial.cost = trial.median = milliseconds;
  trial.unit = "ms/step";
  trial.seconds = 41;
  trial.setting = {{"T", std::to_string(static_cast<int>(milliseconds))}};
  return trial;
}

TEST(ByCost, IsTheFastestFirstOfThoseThatEndedWell) {
  TuningJournal journal;
  journal.trials = {trial_of(9), trial_of(3, TrialEnd::failed), trial_of(5), trial_of(4, TrialEnd::same)};
  const auto trials = by_cost(journal);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0]->median, 5);
  EXPECT_EQ(trials[1]->median, 9);
}

TEST(TunedRecordOf, ATuningHasItsHeadItsCountsAndItsVerdict) {
  TuningHead head;
  head.image = "hello:2.10";
  head.key = "key";
  head.workload = "mnist-cnn";
  head.workload_files = "files";
  head.host.model = "EPYC";
  head.data = "/data";
  head.seed = 5;
  TuningJournal journal;
  journal.trials = {trial_of(9), trial_of(12)};
  journal.trials[0].setting.clear();  // the default
  const TunedRecord record = tuned_record(head, journal, {Digest::of("m"), "kiln 1", "2026-11-24T12:00:00Z"});
  EXPECT_EQ(record.image, "hello:2.10");
  EXPECT_EQ(record.manifest, Digest::of("m"));
  EXPECT_EQ(record.key, "key");
  EXPECT_EQ(record.workload, "mnist-cnn+data");
  EXPECT_EQ(record.workload_files, "files");
  EXPECT_EQ(record.host.model, "EPYC");
  EXPECT_EQ(record.trials, 2u);
  EXPECT_EQ(record.rounds, 0);
  EXPECT_EQ(record.gain.ratio, 1) << "nothing was compared";
  EXPECT_EQ(record.seed, 5);
  EXPECT_EQ(record.kiln, "kiln 1");
  EXPECT_EQ(record.taken, "2026-11-24T12:00:00Z");
  EXPECT_FALSE(record.recommended);
  EXPECT_EQ(record.text, verdict_of(journal).text);
  EXPECT_TRUE(record.settings.empty());
  head.data.clear();
  EXPECT_EQ(tuned_record(head, journal, {}).workload, "mnist-cnn");
  journal.trials.push_back(trial_of(5));
  journal.failed = "exit status 1";
  const TunedRecord failed = tuned_record(head, journal, {});
  EXPECT_EQ(failed.settings, journal.trials[2].setting);
  EXPECT_FALSE(failed.recommended);
  EXPECT_NE(failed.text.find("exit status 1"), std::string::npos);
}

TEST(TunedRecordOf, ATuningCountsTheRoundsOfItsSettingAndHasTheirGain) {
  TuningJournal journal;
  journal.trials = {trial_of(12), trial_of(6)};
  journal.trials[0].setting.clear();  // the default
  for (int round = 0; round < 3; ++round)
    for (TuningSide side : {TuningSide::standard, TuningSide::rival, TuningSide::tuned}) {
      TuningTurn turn;
      turn.round = round;
      turn.side = side;
      turn.run.unit = "ms/step";
      turn.run.samples = {side == TuningSide::tuned ? 6.0 : 12.0};
      turn.run.round = round;
      journal.turns.push_back(turn);
    }
  const TunedRecord record = tuned_record({}, journal, {});
  EXPECT_EQ(record.rounds, 3);
  EXPECT_NEAR(record.gain.ratio, 2, 1e-9);
  EXPECT_LE(record.gain.low, record.gain.ratio);
  EXPECT_GE(record.gain.high, record.gain.ratio);
}

TEST(SplitMetric, IsOfAWorkloadUnlessThatIsItsWholeName) {
  EXPECT_EQ(split_metric("language-model.decode", {"language-model"}).workload, "language-model");
  EXPECT_EQ(split_metric("language-model.decode", {"language-model"}).metric, "decode");
  EXPECT_EQ(split_metric("llama.cpp", {"llama.cpp"}).workload, "llama.cpp");
  EXPECT_EQ(split_metric("llama.cpp", {"llama.cpp"}).metric, "");
  EXPECT_EQ(split_metric("mnist-cnn", {}).workload, "mnist-cnn");
}

}  // namespace
}  // namespace kiln
