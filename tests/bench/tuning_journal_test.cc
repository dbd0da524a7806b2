#include "factory/bench/tuning_journal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/bench/tuning.h"

namespace kiln {
namespace {

TuningTrial kept_trial(TuningSetting setting, double cost, TrialEnd end = TrialEnd::complete) {
  TuningTrial trial;
  trial.setting = std::move(setting);
  trial.end = end;
  if (end == TrialEnd::complete) trial.cost = trial.median = cost;
  trial.unit = "ms/step";
  trial.seconds = 41;
  if (end != TrialEnd::complete) trial.why = "it ended";
  return trial;
}

TuningTurn kept_turn(int round, TuningSide side, double milliseconds) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {milliseconds};
  run.host.cpu = "zen3";
  run.taken = "2026-11-24T12:00:00Z";
  return {round, side, 10, std::move(run)};
}

TuningJournal kept_journal() {
  TuningJournal journal;
  journal.trials = {kept_trial({}, 40), kept_trial({{"T", "1"}}, 30)};
  journal.turns = {kept_turn(0, TuningSide::standard, 40), kept_turn(0, TuningSide::tuned, 30)};
  return journal;
}

TEST(TrialText, SaysHowItEnded) {
  EXPECT_EQ(text_of(kept_trial({}, 12.345)), "12.35 ms/step (41 s)");
  EXPECT_EQ(text_of(kept_trial({}, 1, TrialEnd::stopped)), "ended after 41 s: too slow");
  TuningTrial failed = kept_trial({}, 1, TrialEnd::failed);
  failed.why = "exit status 1\nmore";
  EXPECT_EQ(text_of(failed), "failed: exit status 1");
  TuningTrial objective = kept_trial({}, -0.25);
  objective.unit.clear();
  EXPECT_EQ(text_of(objective), "-0.25 (41 s)");
}

TEST(TrialAgain, HasTheAnswerOfTheFirstAndCostsNoTime) {
  TuningJournal journal;
  journal.trials = {kept_trial({}, 9), kept_trial({{"T", "1"}}, 12)};
  const TuningTrial again = trial_again(journal, 1);
  EXPECT_EQ(again.end, TrialEnd::same);
  EXPECT_EQ(again.median, 12);
  EXPECT_EQ(again.seconds, 0);
  EXPECT_EQ(text_of(again), "as trial 1");
}

std::string text_of_journal(const TuningJournal& journal) {
  TuningHead head;
  head.space.variables.push_back({"T", {"1"}});
  std::string text = to_json(head).dump() + "\n";
  for (std::size_t i = 0; i < journal.trials.size(); ++i) text += to_json(journal.trials[i], i).dump() + "\n";
  for (const TuningTurn& turn : journal.turns) text += to_json(turn).dump() + "\n";
  if (!journal.failed.empty()) text += failed_comparison(TuningSide::tuned, journal.failed).dump() + "\n";
  if (!journal.rival_failed.empty())
    text += failed_comparison(TuningSide::rival, journal.rival_failed).dump() + "\n";
  return text;
}

TEST(TuningJournal, KeepsTheRival) {
  TuningJournal journal = kept_journal();
  journal.trials.insert(journal.trials.begin() + 1, kept_trial(rival_setting(), 35));
  journal.turns.push_back(kept_turn(0, TuningSide::rival, 35));
  journal.rival_failed = "it crashed";
  const std::string text = text_of_journal(journal);
  EXPECT_EQ(text_of_journal(read_tuning_journal(text, "j")), text);
}

TEST(TuningJournal, IsReadAsItWasWritten) {
  TuningJournal journal = kept_journal();
  journal.trials.push_back(kept_trial({{"T", "2"}}, 0, TrialEnd::stopped));
  journal.trials.push_back(kept_trial({{"T", "3"}}, 0, TrialEnd::failed));
  journal.trials.push_back(kept_trial({{"T", "2"}}, 0, TrialEnd::same));
  journal.failed = "it crashed";
  const std::string text = text_of_journal(journal);
  const TuningJournal back = read_tuning_journal(text, "j");
  EXPECT_EQ(text_of_journal(back), text);
  EXPECT_EQ(back.seconds(), journal.seconds());
  EXPECT_TRUE(read_tuning_journal("", "j").trials.empty());
}

// Whatever a kill cuts off, what is left is a journal of the steps before.
TEST(TuningJournal, IsWholeAfterEachKill) {
  const std::string text = text_of_journal(kept_journal());
  const std::size_t head = text.find('\n');
  for (std::size_t length = 0; length < text.size(); ++length) {
    const TuningJournal left = read_tuning_journal(text.substr(0, length), "j");
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n');
    EXPECT_EQ(left.trials.size() + left.turns.size(),
              length <= head ? 0 : static_cast<std::size_t>(lines) - 1);
  }
}

TEST(TuningJournal, SaysWhatIsDamaged) {
  auto damage = [](const std::string& line) {
    try {
      read_tuning_journal("{\"space\": {}}\n" + line + "\n", "j");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_NE(damage("{\"trial\": 0, ").find("j, line 2:1:"), std::string::npos) << damage("{\"trial\": 0, ");
  EXPECT_NE(damage(R"({"trial": 1, "set": {}, "end": "failed"})"), "no error") << "trial 0 is missing";
  EXPECT_NE(damage(R"({"trial": 0, "set": {}, "end": "complete"})"), "no error") << "it has no cost";
  EXPECT_NE(damage(R"({"trial": 0, "set": {}, "end": "done"})"), "no error");
  EXPECT_NE(damage(R"({"trial": 0, "set": {}, "end": "failed", "seconds": -1})"), "no error");
  EXPECT_NE(damage("{}"), "no error");
  for (const char* head : {"null\n", "{}\n", "[1]\n"})
    EXPECT_THROW(read_tuning_journal(head, "j"), Error) << head;
  EXPECT_EQ(damage(R"({"trial": 0, "set": {}, "end": "failed", "seconds": 1})"), "no error");
}

// A log-likelihood, or an accuracy that is maximised.
TEST(TuningJournal, KeepsCostsOfEitherSign) {
  TuningJournal journal;
  journal.trials = {kept_trial({}, -12.5), kept_trial({{"T", "1"}}, 0)};
  const TuningJournal back = read_tuning_journal(text_of_journal(journal), "j");
  EXPECT_EQ(back.trials[0].cost, -12.5);
  EXPECT_EQ(back.trials[1].cost, 0);
  EXPECT_EQ(back.best(), &back.trials[0]);
}

}  // namespace
}  // namespace kiln
