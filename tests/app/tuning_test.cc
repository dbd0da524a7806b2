#include "factory/app/tuning.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

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

TEST(TunedProgram, IsTheScriptElseTheWorkloadThatIsNamed) {
  const std::vector<std::string> workloads = {"language-model", "mlp"};
  const TunedProgram script = tuned_program("jobs/train.py", "mlp", "mlp", workloads);
  EXPECT_TRUE(script.is_script);
  EXPECT_EQ(script.name, "train.py");
  const TunedProgram named = tuned_program("", "language-model.decode", "mlp", workloads);
  EXPECT_FALSE(named.is_script);
  EXPECT_EQ(named.name, "language-model");
  EXPECT_EQ(named.metric, "decode");
  EXPECT_EQ(tuned_program("", "", "mlp", workloads).name, "mlp") << "the document names it";
  EXPECT_THROW(tuned_program("", "", "", workloads), Error);
}

TEST(PlannedNumber, IsOfTheSameBits) {
  const testing::Resolver resolver;
  const BuildPlan plan = plan_matrix(
      testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("base", {"debian"}),
                       testing::axis("method", {"distro", "pip"}), testing::axis("target", {"x86_64_v3"})}),
      resolver.input());
  ImageRecord record;
  record.repository = "pytorch";
  record.tag = "2.6.0";
  record.manifest = Digest::of("m");
  record.key = plan.image(1).key();
  EXPECT_EQ(planned_number(plan, record, "demo.json"), 1u);
  record.key = "older";
  try {
    planned_number(plan, record, "demo.json");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_match);
    EXPECT_EQ(error.message(), "pytorch:2.6.0 is not a cell of demo.json as it is now");
  }
}

TEST(SpaceOf, AnImageHasTheOptionsOfItsMpi) {
  ImageSpec image;
  ComponentUse use;
  use.kind = Kind::distributed;
  const auto space = [&](const char* name) {
    use.name = name;
    image.components = {use};
    return space_of(image, 4);
  };
  const double without = space("ucx").points();
  EXPECT_GT(space("openmpi").points(), without);
  use.kind = Kind::library;
  EXPECT_EQ(space("openmpi").points(), without) << "the kind counts";
}

TEST(TermsOf, AScriptComparesNothing) {
  TuningTerms asked;
  asked.rounds = 7;
  asked.trials = 200;
  RunAxes axes;
  axes.framework = "pytorch";
  axes.accelerator = "cpu";
  axes.version = "2.6.0";
  SearchSpace space;
  TuningTerms terms = terms_of(asked, space, 4, {"mlp", "", false}, axes);
  EXPECT_EQ(terms.trials, 200u);
  EXPECT_EQ(terms.at_once, 4u);
  EXPECT_EQ(terms.rounds, 7);
  EXPECT_TRUE(terms.rival);
  EXPECT_EQ(terms.points, space.points());
  terms = terms_of(asked, space, 1, {"train.py", "", true}, axes);
  EXPECT_EQ(terms.rounds, 0);
  EXPECT_FALSE(terms.rival);
  axes.framework = "jax";
  EXPECT_FALSE(terms_of(asked, space, 1, {"mlp", "", false}, axes).rival);
}

TEST(MoreIsBetter, IsOfTheScriptsSpaceElseOfTheUnit) {
  TuningJournal journal;
  journal.trials = {trial_of(9)};
  SearchSpace space;
  space.maximises = true;
  EXPECT_FALSE(more_is_better({"mlp", "", false}, space, journal));
  EXPECT_TRUE(more_is_better({"train.py", "", true}, space, journal));
  journal.trials[0].unit = "images/s";
  space.maximises = false;
  EXPECT_TRUE(more_is_better({"mlp", "", false}, space, journal));
  EXPECT_FALSE(more_is_better({"train.py", "", true}, space, journal));
}

class BeginTuning : public ::testing::Test {
 protected:
  void write(const std::vector<TuningTrial>& trials) {
    TuningFile file(head_, state_, files_);
    file.begin();
    std::vector<Json> lines;
    for (const TuningTrial& trial : trials) lines.push_back(to_json(trial, lines.size()));
    file.add(lines);
  }
  std::size_t begin(bool again = false) {
    TuningFile file(head_, state_, files_);
    return begin_tuning(file, again, [this](const std::string& line) { notes_.push_back(line); })
        .trials.size();
  }

  testing::TemporaryFolder root_;
  RealFileSystem files_;
  StatePaths state_{root_.path()};
  TuningHead head_;
  std::vector<std::string> notes_;
};

TEST_F(BeginTuning, GoesOnWhereItWas) {
  EXPECT_EQ(begin(), 0u);
  EXPECT_TRUE(notes_.empty());
  write({trial_of(9), trial_of(5)});
  EXPECT_EQ(begin(), 2u);
  EXPECT_EQ(notes_, std::vector<std::string>{"tune  goes on after 2 trials and 0 runs of the comparison"});
  EXPECT_EQ(begin(true), 0u) << "it was asked to begin anew";
  EXPECT_EQ(begin(), 0u);
}

TEST_F(BeginTuning, BeginsAnewAfterABudgetThatWasTooSmall) {
  write({trial_of(9, TrialEnd::stopped)});
  EXPECT_EQ(begin(), 0u);
  EXPECT_TRUE(notes_.empty());
}

}  // namespace
}  // namespace kiln
