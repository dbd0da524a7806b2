#include "factory/bench/tuning.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

BenchRun tuned_run(std::vector<double> samples, const std::string& unit = "ms/step", int batch = 0) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = unit;
  run.samples = std::move(samples);
  run.host.cpu = "zen3";
  run.taken = "2026-11-24T12:00:00Z";
  if (batch > 0) run.output = {{"batch", batch}};
  return run;
}

TuningTrial trial_of(TuningSetting setting, double milliseconds, double seconds = 10) {
  return complete_trial(std::move(setting), tuned_run({milliseconds}), seconds);
}

TuningTrial ended(TuningSetting setting, TrialEnd end, double seconds = 10) {
  TuningTrial trial;
  trial.setting = std::move(setting);
  trial.end = end;
  trial.seconds = seconds;
  trial.why = "it ended";
  return trial;
}

TuningTerms terms_of(double budget) { return {budget, 100, 7, 1000}; }

// The turns of a comparison in which the default takes `a` and the tuned setting `b`.
TuningJournal compared(double a, double b, int turns) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40), trial_of({{"T", "1"}}, 30)};
  TuningTerms terms = terms_of(10'000);
  terms.trials = 2;
  for (int done = 0; done < turns; ++done) {
    const NextTuningStep next = next_step(terms, journal);
    const auto [round, side] = next.turns.at(0);
    const double time = (side == TuningSide::tuned ? b : a) + 0.01 * round;
    journal.turns.push_back({round, side, 10, tuned_run({time, time * 1.01, time * 0.99})});
  }
  return journal;
}

ExitCode refusal(const TuningTerms& terms, const TuningJournal& journal) {
  try {
    next_step(terms, journal);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

TEST(Costs, CompareOverBatchesAndDirections) {
  EXPECT_EQ(costs_of(tuned_run({10, 20}, "ms/step", 5)), (std::vector<double>{2, 4}));
  EXPECT_EQ(costs_of(tuned_run({10, 20})), (std::vector<double>{10, 20}));
  EXPECT_EQ(costs_of(tuned_run({10, 20}, "us/message", 5)), (std::vector<double>{10, 20}));
  EXPECT_EQ(costs_of(tuned_run({10, 20}, "images/s", 5)), (std::vector<double>{0.1, 0.05}));
  BenchRun warm = tuned_run({90, 10, 20});
  warm.warm = 1;
  EXPECT_EQ(costs_of(warm), (std::vector<double>{10, 20}));
}

TEST(Tuning, BeginsWithTheDefault) {
  const NextTuningStep next = next_step(terms_of(600), {});
  EXPECT_EQ(next.step, TuningStep::try_default);
  EXPECT_EQ(next.patience, 600);
}

TEST(Tuning, EndsWithoutADefault) {
  TuningJournal journal;
  journal.trials = {ended({}, TrialEnd::failed)};
  EXPECT_EQ(refusal(terms_of(600), journal), ExitCode::images_failed);
  journal.trials = {ended({}, TrialEnd::stopped, 600)};
  EXPECT_EQ(refusal(terms_of(600), journal), ExitCode::timeout);
}

TEST(Tuning, ABudgetThatEndsTheDefaultIsForgotten) {
  TuningJournal journal;
  EXPECT_FALSE(ended_with_the_budget(journal));
  journal.trials.push_back(ended({}, TrialEnd::stopped));
  EXPECT_TRUE(ended_with_the_budget(journal));
  journal.trials.front().end = TrialEnd::failed;
  EXPECT_FALSE(ended_with_the_budget(journal)) << "a larger budget does not help";
}

TEST(Tuning, NeedsABudgetForTheComparison) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40, 10)};
  EXPECT_EQ(refusal(terms_of(150), journal), ExitCode::usage) << "10 s are spent, and 140 s are kept";
  EXPECT_EQ(next_step(terms_of(160), journal).step, TuningStep::search);
  journal.trials.push_back(trial_of({{"T", "1"}}, 50, 10));
  EXPECT_EQ(next_step(terms_of(160), journal).step, TuningStep::end);
  EXPECT_EQ(next_step(terms_of(160), journal).why, "the budget is spent");
}

TEST(Tuning, EndsTrialsThatAreMuchSlowerThanTheBest) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40, 10), trial_of({{"T", "1"}}, 30, 8)};
  EXPECT_EQ(next_step(terms_of(10'000), journal).patience, 2 * 8 + 5);
  EXPECT_EQ(next_step(terms_of(18 + 126 + 12), journal).patience, 12) << "the budget is less";
  journal.trials.push_back(ended({{"T", "2"}}, TrialEnd::stopped, 21));
  EXPECT_EQ(next_step(terms_of(10'000), journal).step, TuningStep::search) << "the others go on";
}

TEST(Tuning, SearchesUntilThereIsNothingToFind) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40), trial_of({{"T", "1"}}, 50), ended({{"T", "2"}}, TrialEnd::failed)};
  TuningTerms terms = terms_of(10'000);
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::search);
  terms.trials = 3;
  EXPECT_EQ(next_step(terms, journal).why, "all trials were made");
  terms = terms_of(10'000);
  terms.points = 3;
  EXPECT_EQ(next_step(terms, journal).why, "the whole space was tried");
  terms.points = 4;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(next_step(terms, journal).step, TuningStep::search);
    journal.trials.push_back(ended({{"T", "1"}}, TrialEnd::same, 0));
  }
  EXPECT_EQ(next_step(terms, journal).why, "the search proposes nothing new");
  EXPECT_EQ(journal.distinct(), 3u);
  EXPECT_EQ(journal.trial_with({{"T", "2"}}), 2u);
  EXPECT_FALSE(journal.trial_with({{"T", "3"}}));
}

TEST(Tuning, ComparesByTurns) {
  TuningJournal journal = compared(40, 30, 0);
  TuningTerms terms = terms_of(10'000);
  terms.trials = 2;
  std::string order;
  for (NextTuningStep next = next_step(terms, journal); next.step != TuningStep::end;
       next = next_step(terms, journal)) {
    ASSERT_EQ(next.step, TuningStep::compare);
    ASSERT_EQ(next.turns.size(), 1u);
    const auto [round, side] = next.turns.front();
    order += std::string(side == TuningSide::tuned ? "B" : "A") + std::to_string(round) + " ";
    journal.turns.push_back({round, side, 10, tuned_run({30})});
  }
  EXPECT_EQ(order, "A0 B0 B1 A1 A2 B2 B3 A3 A4 B4 B5 A5 A6 B6 ");
}

// The rounds that run together, each whole, and no more than `at_once` of them.
TEST(Tuning, ComparesSeveralRoundsTogether) {
  TuningJournal journal = compared(40, 30, 0);
  TuningTerms terms = terms_of(10'000);
  terms.trials = 2;
  terms.at_once = 3;
  std::string order;
  for (NextTuningStep next = next_step(terms, journal); next.step != TuningStep::end;
       next = next_step(terms, journal)) {
    for (const auto& [round, side] : next.turns) {
      order += std::string(side == TuningSide::tuned ? "B" : "A") + std::to_string(round) + " ";
      journal.turns.push_back({round, side, 10, tuned_run({30})});
    }
    order += "| ";
  }
  EXPECT_EQ(order, "A0 B0 B1 A1 A2 B2 | B3 A3 A4 B4 B5 A5 | A6 B6 | ");
  // What is left of a round that ended early is with the rounds after it.
  journal.turns.erase(journal.turns.begin() + 1);
  const NextTuningStep rest = next_step(terms, journal);
  ASSERT_EQ(rest.turns.size(), 1u);
  EXPECT_EQ(rest.turns.front().round, 0);
  EXPECT_EQ(rest.turns.front().side, TuningSide::tuned);
}

TEST(Tuning, ProposesSeveralTrialsTogether) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40)};
  TuningTerms terms = terms_of(10'000);
  terms.at_once = 4;
  EXPECT_EQ(next_step(terms, journal).count, 4u);
  for (int i = 0; i < 3; ++i) journal.trials.push_back(trial_of({{"T", std::to_string(i)}}, 50));
  EXPECT_EQ(next_step(terms, journal).count, 1u) << "the rest of the first four";
  journal.trials.push_back(trial_of({{"T", "3"}}, 50));
  EXPECT_EQ(next_step(terms, journal).count, 4u);
  terms.trials = 7;
  EXPECT_EQ(next_step(terms, journal).count, 2u) << "no more trials are allowed";
  terms.trials = 100;
  terms.budget = 50 + 140 + 25;
  EXPECT_EQ(next_step(terms, journal).count, 2u) << "the budget has room for two";
  EXPECT_EQ(next_step(terms, journal).patience, 12.5) << "and they share what is left";
  terms.rival = true;
  terms.budget = 10'000;
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::try_rival);
  EXPECT_EQ(next_step(terms, journal).count, 1u);
  journal.trials.insert(journal.trials.begin() + 1, trial_of(rival_setting(), 45));
  EXPECT_EQ(next_step(terms, journal).count, 4u) << "no group has the rival";
}

TEST(Tuning, AScriptHasNoComparisonAndMayTakeItsTime) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40)};
  TuningTerms terms = terms_of(100);
  terms.rounds = 0;
  EXPECT_EQ(next_step(terms, journal).patience, 90) << "a slower setting may be the better one";
  terms.budget = 12;
  try {
    next_step(terms, journal);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "a budget of 12 s is too small: one run takes 10.0 s");
  }
  terms.budget = 30;
  journal.trials.push_back(trial_of({{"T", "1"}}, 30, 20));
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::end);
}

TEST(Tuning, ComparesNothingThatIsNotFaster) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40), trial_of({{"T", "1"}}, 41)};
  TuningTerms terms = terms_of(10'000);
  terms.trials = 2;
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::end);
  const TuningVerdict verdict = verdict_of(journal);
  EXPECT_FALSE(verdict.recommended);
  EXPECT_FALSE(verdict.comparison);
  EXPECT_EQ(verdict.text, "no setting was faster than the default");
}

TEST(Tuning, RecommendsWhatTheComparisonProves) {
  const TuningVerdict faster = verdict_of(compared(40, 30, 14));
  EXPECT_TRUE(faster.recommended);
  EXPECT_NEAR(faster.comparison->ratio, 4.0 / 3, 0.01);
  EXPECT_EQ(faster.setting, (TuningSetting{{"T", "1"}}));
  EXPECT_EQ(faster.text.substr(0, 32), "recommended: 1.33 times as fast ");
  const TuningVerdict noise = verdict_of(compared(40, 40, 14));
  EXPECT_FALSE(noise.recommended) << "the trial promised more";
  EXPECT_EQ(noise.text.substr(0, 30), "not recommended: no difference");
  const TuningVerdict slower = verdict_of(compared(30, 40, 14));
  EXPECT_FALSE(slower.recommended);
  EXPECT_NE(slower.text.find("slower than the default"), std::string::npos);
}

TEST(Tuning, AFailureInTheComparisonEndsIt) {
  TuningJournal journal = compared(40, 30, 3);
  journal.failed = "it crashed";
  EXPECT_EQ(next_step(terms_of(10'000), journal).step, TuningStep::end);
  EXPECT_FALSE(verdict_of(journal).recommended);
  EXPECT_NE(verdict_of(journal).text.find("it crashed"), std::string::npos);
}

// The default takes 40, the rival `rival` and the tuned setting 30, in all turns that are left.
TuningJournal against_rival(double rival, int turns = 1000) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40), trial_of(rival_setting(), rival), trial_of({{"T", "1"}}, 30)};
  TuningTerms terms = terms_of(10'000);
  terms.rival = true;
  terms.trials = 3;
  for (int done = 0; done < turns; ++done) {
    const NextTuningStep next = next_step(terms, journal);
    if (next.step == TuningStep::end) break;
    const auto [round, side] = next.turns.at(0);
    const double time = side == TuningSide::tuned ? 30 : side == TuningSide::rival ? rival : 40;
    journal.turns.push_back({round, side, 10, tuned_run({time, time * 1.01, time * 0.99})});
  }
  return journal;
}

TEST(Rival, IsTriedAfterTheDefault) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40)};
  TuningTerms terms = terms_of(10'000);
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::search) << "the image has none";
  terms.rival = true;
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::try_rival);
  EXPECT_GT(next_step(terms, journal).patience, 0);
  journal.trials.push_back(ended(rival_setting(), TrialEnd::failed));
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::search) << "it is tried once";
  journal.trials.pop_back();
  terms.budget = 190;
  EXPECT_EQ(next_step(terms, journal).step, TuningStep::search) << "there is no time to compare with it";
}

TEST(Rival, NeverWinsAndIsNoPointOfTheSpace) {
  TuningJournal journal;
  journal.trials = {trial_of({}, 40), trial_of(rival_setting(), 10)};
  EXPECT_TRUE(journal.best()->setting.empty());
  EXPECT_EQ(journal.rival()->cost, 10);
  EXPECT_EQ(journal.distinct(), 1u);
  EXPECT_EQ(trial_name(rival_setting()), "run_cpu");
  EXPECT_EQ(trial_name({{"T", "1"}}), "T=1");
  EXPECT_EQ(verdict_of(journal).text, "no setting was faster than the default");
}

TEST(Rival, TakesPartInEachRound) {
  std::string order;
  for (const TuningTurn& turn : against_rival(35).turns)
    order += turn.side == TuningSide::standard ? 'A' : turn.side == TuningSide::rival ? 'R' : 'B';
  EXPECT_EQ(order, "ARBBRAARBBRAARBBRAARB");
}

TEST(Rival, IsNamedInTheVerdict) {
  EXPECT_NE(verdict_of(against_rival(35)).text.find("; 1.17 times as fast as run_cpu ("), std::string::npos);
  const TuningVerdict equal = verdict_of(against_rival(30));
  EXPECT_TRUE(equal.recommended) << "it is faster than the default";
  EXPECT_NE(equal.text.find("; no better than run_cpu ("), std::string::npos) << equal.text;
  EXPECT_NE(verdict_of(against_rival(20)).text.find("no better than run_cpu"), std::string::npos);
  EXPECT_EQ(verdict_of(compared(40, 30, 14)).text.find("run_cpu"), std::string::npos);
}

TEST(Rival, ThatFailsIsLeftOut) {
  TuningJournal journal = against_rival(35, 4);
  journal.rival_failed = "it crashed";
  TuningTerms terms = terms_of(10'000);
  terms.trials = 3;
  for (NextTuningStep next = next_step(terms, journal); next.step != TuningStep::end;
       next = next_step(terms, journal)) {
    ASSERT_NE(next.turns.at(0).side, TuningSide::rival);
    journal.turns.push_back({next.turns[0].round, next.turns[0].side, 10, tuned_run({30})});
  }
  EXPECT_FALSE(verdict_of(journal).over_rival);
  EXPECT_TRUE(verdict_of(journal).comparison);
}

TEST(Rival, IsForPyTorchOnProcessors) {
  RunAxes axes{"pytorch", "2.6.0", "pip", "x86_64", {}, "cpu"};
  EXPECT_TRUE(has_rival(axes));
  axes.version = "1.12.1";
  EXPECT_FALSE(has_rival(axes)) << "torch.backends.xeon came with 1.13";
  axes = {"pytorch", "2.6.0", "pip", "x86_64", {}, "nvidia:sm_90"};
  EXPECT_FALSE(has_rival(axes));
  axes = {"tensorflow", "2.6.0", "pip", "x86_64", {}, "cpu"};
  EXPECT_FALSE(has_rival(axes));
}

}  // namespace
}  // namespace kiln
