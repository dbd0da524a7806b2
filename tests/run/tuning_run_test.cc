#include "factory/run/tuning_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

TuningHead made_head(std::int64_t seed = 1) {
  TuningHead head;
  head.image = "hello:2.10";
  head.workload = "say";
  head.seed = seed;
  SearchVariable threads{"OMP_NUM_THREADS", {}};
  threads.from = 1;
  threads.to = 64;
  head.space.variables = {threads, {"OMP_PROC_BIND", {"close", "spread"}}};
  return head;
}

TuningTrial made_trial(TuningSetting setting, double cost) {
  TuningTrial trial;
  trial.setting = std::move(setting);
  if (cost > 0) trial.cost = trial.median = cost;
  trial.unit = "ms/step";
  trial.end = cost > 0 ? TrialEnd::complete : TrialEnd::failed;
  return trial;
}

TuningSearch real_search(RealCommandRunner& runner) { return {KILN_ARCHSPEC_PYTHON, runner, {}}; }

class TuningRunTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder;
  StatePaths state{folder.path()};
  RealFileSystem files;
  RealCommandRunner runner;
};

TEST_F(TuningRunTest, AJournalGoesOnAfterAKill) {
  TuningFile file(made_head(), state, files);
  EXPECT_TRUE(file.begin().trials.empty());
  file.add({to_json(made_trial({}, 40), 0)});
  file.add({to_json(made_trial({{"OMP_NUM_THREADS", "2"}}, 30), 1)});
  const std::string text = files.read(file.path()).value();
  files.write(file.path(), text.substr(0, text.size() - 5));
  TuningFile after(made_head(), state, files);
  EXPECT_EQ(after.path(), file.path());
  EXPECT_EQ(after.begin().trials.size(), 1u);
  after.add({to_json(made_trial({{"OMP_NUM_THREADS", "2"}}, 30), 1)});
  EXPECT_EQ(files.read(file.path()).value(), text);
  after.remove();
  EXPECT_TRUE(TuningFile(made_head(), state, files).begin().trials.empty());
  EXPECT_NE(TuningFile(made_head(2), state, files).path(), file.path()) << "another tuning";
}

TEST_F(TuningRunTest, TheSameJournalGivesTheSameProposal) {
  const TuningSearch search = real_search(runner);
  search.check();
  TuningFile file(made_head(), state, files);
  file.begin();
  std::vector<TuningSetting> proposed;
  for (std::size_t i = 0; i < 12; ++i) {  // two of which the sampler has learnt
    proposed.push_back(search.propose(file.path(), 1).at(0));
    const int threads = std::stoi(proposed.back().at("OMP_NUM_THREADS"));
    EXPECT_TRUE(threads >= 1 && threads <= 64);
    file.add({to_json(made_trial(proposed.back(), i % 5 == 4 ? 0 : threads), i)});
  }
  const std::string text = files.read(file.path()).value();
  // Cut after each line, it proposes what it did then.
  std::size_t end = text.find('\n');
  for (std::size_t i = 0; i < proposed.size(); ++i, end = text.find('\n', end + 1)) {
    if (i % 4 != 3) continue;
    files.write(folder.path() / "cut.jsonl", text.substr(0, end + 1));
    EXPECT_EQ(search.propose(folder.path() / "cut.jsonl", 1).at(0), proposed[i]) << i;
    files.write(folder.path() / "cut.jsonl", text.substr(0, end + 8));  // and half of the next one
    EXPECT_EQ(search.propose(folder.path() / "cut.jsonl", 1).at(0), proposed[i]) << i;
  }
  TuningFile other(made_head(2), state, files);
  other.begin();
  EXPECT_NE(search.propose(other.path(), 1).at(0), proposed.front()) << "another seed";
}

// As many as are asked for, none of them twice, and the first of them as if it were alone.
TEST_F(TuningRunTest, ProposesSeveralTogether) {
  const TuningSearch search = real_search(runner);
  TuningFile file(made_head(), state, files);
  file.begin();
  std::vector<Json> lines;
  for (std::size_t i = 0; i < 11; ++i)
    lines.push_back(to_json(
        made_trial({{"OMP_NUM_THREADS", std::to_string(2 * i + 1)}}, 60.0 - static_cast<double>(i)), i));
  file.add(lines);
  const auto four = search.propose(file.path(), 4);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_EQ(std::set<TuningSetting>(four.begin(), four.end()).size(), 4u);
  EXPECT_EQ(search.propose(file.path(), 4), four) << "the same journal";
  EXPECT_EQ(search.propose(file.path(), 1).at(0), four.front());
}

TEST_F(TuningRunTest, ProposesRealNumbersAndLogarithms) {
  TuningHead head = made_head();
  SearchVariable rate{"--rate", {}};
  rate.real = {1e-6, 1.0};
  rate.logarithmic = true;
  SearchVariable width{"WIDTH", {}};
  width.from = 1;
  width.to = 1024;
  width.logarithmic = true;
  head.space.variables = {rate, width};
  TuningFile file(head, state, files);
  file.begin();
  const auto sets = real_search(runner).propose(file.path(), 10);
  int small = 0;
  for (const TuningSetting& set : sets) {
    const double drawn = std::stod(set.at("--rate"));
    EXPECT_TRUE(drawn >= 1e-6 && drawn <= 1) << drawn;
    if (drawn < 1e-2) ++small;
    const int whole = std::stoi(set.at("WIDTH"));
    EXPECT_TRUE(whole >= 1 && whole <= 1024) << whole;
  }
  EXPECT_GE(small, 4) << "evenly by the logarithm, not by the number";
  // What was drawn is read back, also of a negative cost.
  TuningTrial trial = made_trial(sets.front(), 3);
  trial.cost = trial.median = -3;
  file.add({to_json(trial, 0)});
  EXPECT_EQ(real_search(runner).propose(file.path(), 2).size(), 2u);
}

TEST_F(TuningRunTest, BeginsAnewWithoutWhatJobsLeft) {
  TuningFile file(made_head(), state, files);
  file.begin();
  EXPECT_EQ(file.folder().parent_path(), file.path().parent_path());
  files.write(file.folder() / "x.answer", "{}");
  file.remove();
  EXPECT_FALSE(files.exists(file.folder()));
  EXPECT_FALSE(files.exists(file.path()));
}

TEST_F(TuningRunTest, SaysWhatIsMissing) {
  TuningSearch search = real_search(runner);
  search.python = "/usr/bin/false";
  try {
    search.check();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::tool_missing);
    EXPECT_NE(error.message().find("has no Optuna"), std::string::npos);
  }
  files.write(folder.path() / "damaged.jsonl", "{}\n");
  try {
    real_search(runner).propose(folder.path() / "damaged.jsonl", 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::internal);
  }
}

}  // namespace
}  // namespace kiln
