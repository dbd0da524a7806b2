#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/app/benching.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

// Two images that take turns, and a workload that does as the test says.
class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() {
    for (const char* key : {"a", "b"}) {
      images_.emplace_back();
      images_.back().key = images_.back().tag = key;
      images_.back().repository = "hello";
    }
    work_.workload = "mnist-cnn";
    work_.rounds = 2;
    work_.repeats = 0;
  }

  BenchRun run_of(const BenchRequest& request) const {
    BenchRun run;
    run.workload = "mnist-cnn";
    run.unit = "ms/step";
    run.samples = {1};
    run.key = request.image.key;
    run.name = "hello:" + request.image.key;
    run.round = request.round;
    run.session = "s";
    run.host.cpu = "zen3";
    run.taken = rfc3339(clock_.now);
    return run;
  }

  // With `at_once` rounds ahead, runs are jobs: ahead_ has what each call was given.
  TurnsDone take(const std::function<void(BenchRun&)>& change = {}, int at_once = 0) {
    BegunComparison begun({{"test", 1}}, kept_, state_, files_);
    std::vector<BenchRequest> requests;
    for (const ImageSpec& image : images_)
      requests.push_back({image, {}, recipe_, {}, false, {}, "", 0, "", "s", ""});
    TurnEffects effects{
        [&](const BenchRequest& request) {
          turns_.push_back(request.image.key + std::to_string(request.round));
          clock_.now += 60;
          BenchRun run = run_of(request);
          if (change) change(run);
          return std::vector<BenchRun>{run};
        },
        [&](const auto& runs, const auto& gone) { recorded_.emplace_back(runs.size(), gone.size()); },
        [&](const std::string& line) { notes_.push_back(line); }, clock_};
    effects.rounds_ahead = at_once;
    if (at_once > 0)
      effects.ahead = [&](const std::vector<BenchRound>& rounds) {
        std::string text;
        for (const BenchRound& round : rounds) {
          for (const BenchRequest& one : round) text += one.image.key + std::to_string(one.round);
          text += ' ';
        }
        ahead_.push_back(text);
      };
    return take_turns(work_, requests, begun, effects);
  }

  FakeFileSystem files_;
  StatePaths state_{"/state"};
  KeptRuns kept_{state_, files_};
  FakeClock clock_;
  std::vector<ImageSpec> images_;
  Recipe recipe_;
  BenchWork work_;
  std::vector<std::string> turns_, notes_, ahead_;
  std::vector<std::pair<std::size_t, std::size_t>> recorded_;  // runs, and those that are gone
};

using Strings = std::vector<std::string>;

TEST_F(TurnsTest, AreABThenBA) {
  const TurnsDone done = take();
  EXPECT_TRUE(done.is_complete);
  EXPECT_TRUE(done.errors.empty());
  EXPECT_EQ(turns_, (Strings{"a0", "b0", "b1", "a1"}));
  EXPECT_EQ(recorded_.back().first, 4u);
}

TEST_F(TurnsTest, RecordEachRoundAtItsEnd) {
  take();
  std::vector<std::size_t> runs;
  for (const auto& [count, gone] : recorded_) runs.push_back(count);
  EXPECT_EQ(runs, (std::vector<std::size_t>{2, 4}));
}

TEST_F(TurnsTest, SayHowFarTheyAreAndHowLongTheRestTakes) {
  work_.runs_after = 2;
  take();
  EXPECT_EQ(notes_, (Strings{"bench  mnist-cnn in hello:a (round 1 of 2, run 1 of 4)",
                             "bench  mnist-cnn in hello:b (round 1 of 2, run 2 of 4, about 5 min left)",
                             "bench  mnist-cnn in hello:b (round 2 of 2, run 3 of 4, about 4 min left)",
                             "bench  mnist-cnn in hello:a (round 2 of 2, run 4 of 4, about 3 min left)"}));
}

TEST_F(TurnsTest, SayTheRestInSecondsMinutesOrHours) {
  const auto rest = [this](std::int64_t seconds) {
    notes_.clear();
    take([this, seconds](const BenchRun&) { clock_.now += seconds - 60; });
    files_.files.clear();
    return notes_.back().substr(notes_.back().find("about"));
  };
  EXPECT_EQ(rest(119), "about 119 s left)");
  EXPECT_EQ(rest(120), "about 2 min left)");
  EXPECT_EQ(rest(7199), "about 120 min left)");
  EXPECT_EQ(rest(7200), "about 2 h left)");
}

TEST_F(TurnsTest, GoOnWhereTheyWereKilled) {
  work_.rounds = 1;
  take();
  work_.rounds = 2;
  turns_.clear();
  const TurnsDone done = take();
  EXPECT_EQ(turns_, (Strings{"b1", "a1"}));
  EXPECT_TRUE(done.is_complete);
}

TEST_F(TurnsTest, BeginNoRoundAfterTheirEnd) {
  work_.rounds = 3;
  work_.no_round_after = clock_.now + 100;  // within the second run
  const TurnsDone done = take();
  EXPECT_FALSE(done.is_complete);
  EXPECT_EQ(turns_, (Strings{"a0", "b0"})) << "a round that has begun is finished";
  EXPECT_EQ(recorded_.back().first, 2u);
}

TEST_F(TurnsTest, OfAnImageWhoseWorkloadFailsEnd) {
  const TurnsDone done = take([](const BenchRun& run) {
    if (run.key == "b" && run.round == 1) throw Error(ExitCode::images_failed, "exit status 1");
  });
  EXPECT_EQ(done.failed, std::set<std::string>{"b"});
  ASSERT_EQ(done.errors.size(), 1u);
  EXPECT_EQ(turns_, (Strings{"a0", "b0", "b1", "a1"}));
  EXPECT_EQ(recorded_.back(), (std::pair<std::size_t, std::size_t>{2, 1})) << "its first run is gone, too";
  EXPECT_EQ(kept_.all().size(), 2u);
}

TEST_F(TurnsTest, StopAtAnyOtherError) {
  EXPECT_THROW(take([](const BenchRun&) { throw Error(ExitCode::interrupted, "interrupted"); }), Error);
  EXPECT_EQ(turns_, Strings{"a0"});
}

TEST_F(TurnsTest, RefuseASecondUnit) {
  const TurnsDone done = take([](BenchRun& run) {
    if (run.key == "b") run.unit = "images/s";
  });
  EXPECT_EQ(done.failed, std::set<std::string>{"b"});
  EXPECT_EQ(done.errors.at(0).message(),
            "the workload 'mnist-cnn' measured images/s in hello:b, and ms/step before");
}

TEST_F(TurnsTest, AskForTheNextRoundsBeforeTheirTurns) {
  work_.rounds = 5;
  take({}, 2);
  EXPECT_EQ(ahead_, (Strings{"a0b0 b1a1 ", "a2b2 b3a3 ", "a4b4 "}));
  EXPECT_EQ(turns_.size(), 10u);
}

TEST_F(TurnsTest, AskOnlyForWhatIsMissing) {
  work_.rounds = 1;
  take({}, 2);
  work_.rounds = 3;
  ahead_.clear();
  take({}, 3);
  EXPECT_EQ(ahead_, (Strings{"b1a1 a2b2 "}));
  ahead_.clear();
  take({}, 3);
  EXPECT_TRUE(ahead_.empty());
}

TEST_F(TurnsTest, AskForNoImageThatFailed) {
  work_.rounds = 4;
  take(
      [](const BenchRun& run) {
        if (run.key == "b" && run.round == 1) throw Error(ExitCode::images_failed, "exit status 1");
      },
      2);
  EXPECT_EQ(ahead_, (Strings{"a0b0 b1a1 ", "a2 a3 "}));
}

// Rounds that have been measured count, however late it is.
TEST_F(TurnsTest, KeepAllRoundsThatWereAskedFor) {
  work_.rounds = 6;
  work_.no_round_after = clock_.now + 100;
  const TurnsDone done = take({}, 3);
  EXPECT_FALSE(done.is_complete);
  EXPECT_EQ(ahead_, Strings{"a0b0 b1a1 a2b2 "});
  EXPECT_EQ(turns_.size(), 6u);
}

TEST_F(TurnsTest, RepeatADisturbedRunAndKeepTheQuietest) {
  work_.rounds = 1;
  work_.repeats = 2;
  images_.pop_back();
  double busy = 9;
  take([&](BenchRun& run) {
    run.conditions.busy = busy;
    run.conditions.marks = {kUnderLoad};
    busy = busy == 9 ? 3 : 5;
  });
  EXPECT_EQ(turns_, (Strings{"a0", "a0", "a0"}));
  ASSERT_EQ(kept_.all().size(), 1u);
  EXPECT_EQ(kept_.all()[0].conditions.busy, 3);
  EXPECT_EQ(notes_.at(1), "bench  others kept 9.0 processors busy: again");
}

}  // namespace
}  // namespace kiln::testing
