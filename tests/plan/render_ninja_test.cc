#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/error.h"
#include "plan/render.h"
#include "render_sample.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

TEST(RenderNinja, Golden) {
  NinjaOptions options{"/usr/bin/kiln", "/srv/my state/.kiln", {"srun", "-n1", "--comment=it's $x"}, "demo"};
  expect_golden(render_ninja(sample_plan(), options), std::string(KILN_TEST_DATA) + "/golden/build.ninja");
}

TEST(RenderNinja, RefusesABarInACellId) {
  BuildPlan plan = sample_plan();
  plan.images[0].spec.request.id = "a|b";
  try {
    render_ninja(plan, {"kiln", "/state", {}, "demo"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "the cell 'a|b' has a '|' in its name");
  }
}

// A real ninja with a stand-in for `kiln step` that notes its arguments and writes the records.
class RealNinja : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.remove_all(state_);
    files_.write(state_ / "kiln step.sh",
                 "printf '%s\\n' \"$*\" >>calls\n"
                 "key=$6 name=${7:-}\n"
                 "[ ! -e \"fail-$key\" ] || exit 1\n"
                 "case $key in --image) echo \"$name\" >>images ;; *) : >\"steps/$key.json\" && : "
                 ">\"tests/$key.json\" ;; esac\n");
    for (const char* folder : {"steps", "tests", "built"}) files_.make_directories(state_ / folder);
    options_.kiln = "./kiln step.sh";
    options_.state = state_.string();
    options_.launcher = {"/bin/sh"};
    options_.plan = "the plan";
  }
  void TearDown() override { files_.remove_all(state_); }

  CommandResult ninja(const BuildPlan& plan, const std::vector<std::string>& words = {}) {
    files_.write(state_ / "build.ninja", render_ninja(plan, options_));
    RealCommandRunner runner;
    Command command;
    command.argv = {"ninja", "-C", state_.string(), "-k", "0", "-j", "2"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    return runner.run(command);
  }

  std::vector<std::string> calls() {
    std::vector<std::string> lines;
    std::istringstream in(files_.read(state_ / "calls").value_or(""));
    const std::string before = "--plan the plan ";
    for (std::string line; std::getline(in, line);)
      lines.push_back(line.substr(line.find(before) + before.size()));
    return lines;
  }

  RealFileSystem files_;
  fs::path state_ = fs::path(::testing::TempDir()) / "kiln render ninja";
  NinjaOptions options_;
};

TEST_F(RealNinja, RunsEveryStepOnceInOrder) {
  BuildPlan plan = sample_plan();
  CommandResult result = ninja(plan);
  EXPECT_TRUE(result.ok()) << result.tail;
  std::vector<std::string> order = calls();
  EXPECT_EQ(order.size(), plan.steps.size() + plan.images.size());
  auto place = [&](const std::string& call) {
    auto found = std::find(order.begin(), order.end(), call);
    EXPECT_NE(found, order.end()) << call;
    return found - order.begin();
  };
  for (const auto& [key, step] : plan.steps) {
    if (!step.parent.empty()) {
      EXPECT_LT(place(step.parent), place(key));
    }
    if (!step.from.empty()) {
      EXPECT_LT(place(step.from), place(key));
    }
  }
  for (const PlannedImage& image : plan.images) {
    for (const std::string& test : image.tests)
      EXPECT_LT(place(test), place("--image " + image.spec.request.id));
  }
}

TEST_F(RealNinja, AKeyThatExistsIsNeverMadeAgain) {
  BuildPlan plan = sample_plan();
  ASSERT_TRUE(ninja(plan).ok());
  for (const PlannedImage& image : plan.images)
    files_.write(state_ / "built" / (record_name(image.spec) + ".json"), "{}");
  std::size_t before = calls().size();
  options_.launcher = {"/usr/bin/env", "/bin/sh"};  // another command line is no reason
  files_.remove_all(state_ / ".ninja_log");         // nor is a lost log
  CommandResult result = ninja(plan);
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_NE(result.tail.find("no work to do"), std::string::npos) << result.tail;
  EXPECT_EQ(calls().size(), before);
}

TEST_F(RealNinja, OneFailureStopsOnlyWhatHangsOnIt) {
  BuildPlan plan = sample_plan();
  files_.write(state_ / ("fail-" + plan.images[1].tests[0]), "");
  EXPECT_FALSE(ninja(plan).ok());
  EXPECT_EQ(files_.read(state_ / "images"), plan.images[0].spec.request.id + "\n");
}

TEST_F(RealNinja, BuildsOneCellByItsId) {
  BuildPlan plan = sample_plan();
  CommandResult result = ninja(plan, {plan.images[1].spec.request.id});
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(files_.read(state_ / "images"), plan.images[1].spec.request.id + "\n");
}

TEST_F(RealNinja, CellsWithTheSameBitsAreBothPackaged) {
  BuildPlan plan = sample_plan();
  plan.images[1] = plan.images[0];
  plan.images[1].spec.request.id = "twin";
  plan.images[1].spec.tag = "twin";
  CommandResult result = ninja(plan);
  EXPECT_TRUE(result.ok()) << result.tail;
  std::istringstream lines(files_.read(state_ / "images").value_or(""));
  std::multiset<std::string> packaged;  // ninja is free to run the two at once
  for (std::string line; std::getline(lines, line);) packaged.insert(line);
  EXPECT_EQ(packaged, (std::multiset<std::string>{plan.images[0].spec.request.id, "twin"}));
}

}  // namespace
}  // namespace kiln::testing
