#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/run/tuning_run.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// A workload that takes 100 ms less the nearer THREADS is to 5, and what becomes of its starts.
class CourseTest : public ::testing::Test {
 protected:
  CourseTest() {
    SearchVariable threads{"THREADS", {}};
    threads.from = 1;
    threads.to = 8;
    head_.space.variables = {threads};
    terms_ = {10'000, 7, 7, 8};
  }

  static double milliseconds(const TuningSetting& setting) {
    const auto threads = setting.find("THREADS");
    return threads == setting.end() ? 90 : 40 + 5 * std::abs(std::stoi(threads->second) - 5);
  }

  TuningAnswer answer(const TuningStart& start) const {
    TuningAnswer answer;
    answer.seconds = 10;
    if (const auto fails = fails_.find(start.place.side); comparing_ && fails != fails_.end()) {
      answer.end = fails->second;
      answer.why = "it crashed";
      return answer;
    }
    BenchRun run;
    run.workload = "say";
    run.unit = "ms/step";
    run.host.cpu = "zen3";
    run.taken = "2026-11-24T12:00:00Z";
    const double time = is_rival(start.setting) ? 85 : milliseconds(start.setting);
    run.samples = {time, time * 1.01, time * 0.99};
    answer.run = run;
    return answer;
  }

  TuningJournal run() {
    TuningFile file(head_, state_, files_);
    const TuningSearch search{KILN_ARCHSPEC_PYTHON, runner_, {}};
    const TuningCourse course{terms_,
                              false,
                              file,
                              search,
                              clock_,
                              [this](const std::vector<TuningJob>& jobs) { return started(jobs); },
                              [this](const std::string& text) { told_.push_back(text); }};
    return run_course(course, file.begin());
  }

  std::vector<std::vector<TuningAnswer>> started(const std::vector<TuningJob>& jobs) {
    if (stop_after_ == 0) throw Error(ExitCode::interrupted, "interrupted");
    --stop_after_;
    sizes_.push_back(jobs.size());
    std::vector<std::vector<TuningAnswer>> answers;
    for (const TuningJob& job : jobs) {
      answers.emplace_back();
      for (const TuningStart& start : job) {
        comparing_ = job.size() > 1 || start.place.round > 0;
        answers.back().push_back(answer(start));
        const bool ends = answers.back().back().end != TrialEnd::complete;
        if (ends && start.place.side != TuningSide::rival) break;
      }
    }
    return answers;
  }

  std::size_t told_with(const std::string& words) const {
    return static_cast<std::size_t>(std::count_if(
        told_.begin(), told_.end(), [&](const std::string& line) { return line.find(words) != line.npos; }));
  }

  testing::TemporaryFolder folder_;
  StatePaths state_{folder_.path()};
  RealFileSystem files_;
  RealCommandRunner runner_;
  RealClock clock_;
  TuningHead head_;
  TuningTerms terms_;
  std::map<TuningSide, TrialEnd> fails_;
  bool comparing_ = false;
  std::size_t stop_after_ = 1000;   // calls of the starter
  std::vector<std::size_t> sizes_;  // jobs of each call
  std::vector<std::string> told_;
};

TEST_F(CourseTest, SearchesInGroupsAndComparesInRounds) {
  terms_.at_once = 3;
  const TuningJournal journal = run();
  EXPECT_EQ(journal.trials.size(), 7u);
  EXPECT_EQ(journal.turns.size(), 14u);
  EXPECT_EQ(sizes_.front(), 1u) << "the default alone";
  EXPECT_LE(sizes_[1], 3u);
  EXPECT_EQ((std::vector<std::size_t>(sizes_.end() - 3, sizes_.end())), (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_TRUE(verdict_of(journal).recommended);
  EXPECT_EQ(told_with("comparison of the best trial with the default, runs 1 to 6 of 14"), 1u);
}

// Whatever call is the last one before a kill, the journal at the end is the same.
TEST_F(CourseTest, GoesOnAfterEachStop) {
  terms_.at_once = 2;
  const std::vector<TuningTrial> whole = run().trials;
  const std::size_t calls = sizes_.size();
  for (std::size_t stop = 1; stop < calls; ++stop) {
    TuningFile(head_, state_, files_).remove();
    stop_after_ = stop;
    EXPECT_THROW(run(), Error);
    stop_after_ = 1000;
    const TuningJournal after = run();
    ASSERT_EQ(after.trials.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_EQ(after.trials[i].setting, whole[i].setting) << stop;
    EXPECT_EQ(after.turns.size(), 14u);
  }
}

TEST_F(CourseTest, AFailureOfTheBestSettingEndsTheComparison) {
  terms_.at_once = 7;
  fails_ = {{TuningSide::tuned, TrialEnd::failed}};
  const TuningJournal journal = run();
  EXPECT_EQ(journal.failed, "it crashed");
  EXPECT_LE(journal.turns.size(), 1u) << "nothing counts after it";
  EXPECT_FALSE(verdict_of(journal).recommended);
}

TEST_F(CourseTest, AFailureOfTheRivalIsToldOnce) {
  terms_.rival = true;
  terms_.at_once = 7;
  fails_ = {{TuningSide::rival, TrialEnd::failed}};
  const TuningJournal journal = run();
  EXPECT_EQ(journal.rival_failed, "it crashed");
  EXPECT_EQ(journal.turns.size(), 14u);
  EXPECT_EQ(told_with("continues without run_cpu"), 1u);
  EXPECT_TRUE(verdict_of(journal).recommended);
}

TEST_F(CourseTest, AFailureOfTheDefaultIsTheErrorOfTheTuning) {
  for (const auto& [end, code] : {std::pair(TrialEnd::failed, ExitCode::images_failed),
                                  std::pair(TrialEnd::stopped, ExitCode::timeout)}) {
    TuningFile(head_, state_, files_).remove();
    fails_ = {{TuningSide::standard, end}};
    try {
      run();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.message(), "it crashed");
    }
  }
  fails_.clear();
  EXPECT_EQ(run().turns.size(), 14u) << "the same call goes on";
}

TEST_F(CourseTest, ASettingThatWasTriedIsNotStartedAgain) {
  terms_.trials = 40;
  terms_.at_once = 4;
  const TuningJournal journal = run();
  std::set<TuningSetting> started;
  for (const TuningTrial& trial : journal.trials)
    EXPECT_NE(trial.end != TrialEnd::same, !started.insert(trial.setting).second);
  EXPECT_LE(started.size(), 9u) << "eight settings and the default";
  EXPECT_GT(told_with(": as trial "), 0u);
}

}  // namespace
}  // namespace kiln
