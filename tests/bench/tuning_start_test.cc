#include "factory/bench/tuning_start.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

BenchRun started_run(double milliseconds) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {milliseconds, milliseconds};
  run.host.cpu = "zen3";
  run.taken = "2026-11-24T12:00:00Z";
  return run;
}

TuningAnswer answered(double milliseconds) {
  TuningAnswer answer;
  answer.seconds = 12;
  answer.run = started_run(milliseconds);
  return answer;
}

TuningAnswer ended_early(TrialEnd end) {
  TuningAnswer answer;
  answer.end = end;
  answer.why = "exit status 3";
  answer.seconds = 2;
  return answer;
}

std::string refused_output(const std::string& output) {
  try {
    (void)read_objective(output, "train.py");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    return error.message();
  }
  return "no error";
}

TEST(TuningAnswer, BecomesATrial) {
  const TuningTrial trial = trial_of({{"T", "1"}}, answered(40), false);
  EXPECT_EQ(trial.end, TrialEnd::complete);
  EXPECT_EQ(trial.cost, 40);
  EXPECT_EQ(trial.seconds, 12);
  const TuningTrial failed = trial_of({{"T", "1"}}, ended_early(TrialEnd::failed), false);
  EXPECT_EQ(failed.end, TrialEnd::failed);
  EXPECT_EQ(failed.why, "exit status 3");
  EXPECT_FALSE(failed.cost);
  EXPECT_EQ(failed.setting, (TuningSetting{{"T", "1"}}));
}

TEST(TuningAnswer, OfAScriptCostsLessTheBetterItIs) {
  TuningAnswer answer;
  answer.objective = 0.75;
  EXPECT_EQ(trial_of({}, answer, false).cost, 0.75);
  const TuningTrial more = trial_of({}, answer, true);
  EXPECT_EQ(more.cost, -0.75);
  EXPECT_EQ(more.median, 0.75) << "as the script printed it";
}

TEST(TuningAnswer, BecomesATurnOfItsPlace) {
  const TuningTurn turn = turn_of({3, TuningSide::rival}, answered(40));
  EXPECT_EQ(turn.round, 3);
  EXPECT_EQ(turn.side, TuningSide::rival);
  EXPECT_EQ(turn.run.samples, (std::vector<double>{40, 40}));
  EXPECT_EQ(turn.seconds, 12);
}

// The starts of a round share a machine, in their order.
TEST(ComparisonJobs, AreOneForEachRound) {
  TuningJournal journal;
  TuningTrial best;
  best.setting = {{"T", "1"}};
  best.cost = 30;
  journal.trials = {best};
  const std::vector<TuningJob> jobs = comparison_jobs(
      journal,
      {{2, TuningSide::standard}, {2, TuningSide::rival}, {2, TuningSide::tuned}, {3, TuningSide::tuned}});
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(jobs[0].size(), 3u);
  EXPECT_TRUE(jobs[0][0].setting.empty());
  EXPECT_TRUE(is_rival(jobs[0][1].setting));
  EXPECT_EQ(jobs[0][2].setting, best.setting);
  ASSERT_EQ(jobs[1].size(), 1u);
  EXPECT_EQ(jobs[1][0].place.round, 3);
  EXPECT_TRUE(comparison_jobs(journal, {}).empty());
}

TEST(Objective, IsTheLastLine) {
  EXPECT_EQ(read_objective("epoch 1\n{\"objective\": 0.25, \"epochs\": 3}\n", "train.py"), 0.25);
  EXPECT_EQ(read_objective(R"({"objective": -4})", "train.py"), -4);
}

TEST(Objective, SaysWhatIsWrong) {
  EXPECT_EQ(refused_output(""), "the last line of train.py is missing: it printed nothing");
  EXPECT_EQ(refused_output("{\"objective\": 1}\ndone\n"), "the last line of train.py is 'done'");
  for (const char* output : {R"({"objective": NaN})", R"({"loss": 1})", "[1]", "null"})
    EXPECT_EQ(refused_output(output), "the last line of train.py is '" + std::string(output) + "'");
  for (const char* output : {R"({"objective": "1"})", R"({"objective": null})", R"({"objective": 1e999})"})
    EXPECT_NE(refused_output(output), "no error") << output;
  EXPECT_EQ(refused_output("a\x1b[31mb").find('\x1b'), std::string::npos) << "no control characters";
}

TEST(TuningJob, IsReadAsItWasWritten) {
  TuningJob job(2);
  job[0].setting = {{"--rate", "0.1"}, {"T", "a b'\"$`"}};
  job[0].patience = 12.5;
  job[1].place = {4, TuningSide::tuned};
  const Json written = to_json(job);
  const TuningJob back = tuning_job_from_json(JsonDocument::parse(written.dump(), "j").root());
  EXPECT_EQ(to_json(back), written);
  EXPECT_EQ(back[0].setting, job[0].setting);
  EXPECT_EQ(back[1].place.side, TuningSide::tuned);
}

TEST(TuningAnswers, AreReadAsTheyWereWritten) {
  TuningAnswer objective;
  objective.objective = -0.5;
  const std::vector<TuningAnswer> answers = {answered(40), ended_early(TrialEnd::stopped), objective};
  const Json written = to_json(answers);
  const auto back = tuning_answers_from_json(JsonDocument::parse(written.dump(), "j").root());
  EXPECT_EQ(to_json(back), written);
  EXPECT_EQ(back.at(2).objective, -0.5);
}

TEST(TuningAnswers, AreNotReadWhenTheyAreDamaged) {
  auto error_of = [](const std::string& answer) {
    return input_error([&] {
      (void)tuning_answers_from_json(
          JsonDocument::parse(R"({"format": 1, "answers": [)" + answer + "]}", "j").root());
    });
  };
  EXPECT_NE(error_of(R"({"end": "complete", "seconds": 1})").find("a run or an objective"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"end": "same", "seconds": 1})"), "no error");
  EXPECT_NE(error_of(R"({"end": "failed", "seconds": -1})"), "no error");
  EXPECT_NE(error_of(R"({"end": "failed", "seconds": 1, "more": 1})"), "no error");
  EXPECT_EQ(error_of(R"({"end": "failed", "seconds": 1})"), "no error");
}

}  // namespace
}  // namespace kiln::testing
