// How long is left, and how far off that may be.
#include "factory/run/forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "factory/render/render.h"
#include "factory/run/fetch_steps.h"
#include "factory/share/step_share.h"
#include "support/small_state.h"

namespace kiln {
namespace {

TEST(Forecast, OneAfterTheOtherAndSideBySide) {
  const std::vector<ForecastStep> steps = {{"base", {}, 10, 3}, {"a", {0}, 20, 4}, {"b", {0}, 30, 1}};
  const auto one = Forecast(steps, 1).left(0);
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ(one->seconds, 60);
  EXPECT_NEAR(one->error, std::sqrt(9 + 16 + 1), 1e-9);
  const auto two = Forecast(steps, 2).left(0);
  EXPECT_DOUBLE_EQ(two->seconds, 40);
  EXPECT_NEAR(two->error, std::sqrt(9 + 1), 1e-9) << "of those that decide it";
}

TEST(Forecast, WhatRunsHasItsRestAndWhatHasEndedNothing) {
  Forecast forecast({{"base", {}, 10, 0}, {"a", {0}, 20, 0}}, 2);
  forecast.start("base", 100);
  EXPECT_DOUBLE_EQ(forecast.left(104)->seconds, 26);
  EXPECT_DOUBLE_EQ(forecast.left(200)->seconds, 20) << "it takes longer than it did";
  forecast.end("base");
  forecast.start("a", 300);
  EXPECT_DOUBLE_EQ(forecast.left(305)->seconds, 15);
  forecast.start("a", 310);
  EXPECT_DOUBLE_EQ(forecast.left(310)->seconds, 20) << "it waited";
  forecast.end("a");
  EXPECT_FALSE(forecast.left(320));
  forecast.end("unknown");
}

TEST(Forecast, WhereTooLittleIsKnownThereIsNone) {
  EXPECT_FALSE(Forecast({{"a", {}, 10, 0}, {"b"}, {"c"}}, 1).left(0));
  EXPECT_FALSE(Forecast({}, 1).left(0));
  const auto half = Forecast({{"a", {}, 10, 0}, {"b"}}, 1).left(0);
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->seconds, 20) << "the other takes as long";
  EXPECT_DOUBLE_EQ(half->error, 10);
}

TEST(Forecast, IsSaidInWords) {
  EXPECT_EQ(text_of(std::nullopt), "");
  EXPECT_EQ(text_of(TimeLeft{45, 3}), "about 45 s, give or take 3 s");
  EXPECT_EQ(text_of(TimeLeft{720, 100}), "about 12 min, give or take 2 min");
  EXPECT_EQ(text_of(TimeLeft{9000, 1200}), "about 2.5 h, give or take 20 min");
}

// The processors are divided among so many.
TEST(Forecast, NoMoreRunSideBySideThanThePlanLets) {
  const std::vector<ForecastStep> chain = {{"a", {}, 10, 0}, {"b", {0}, 10, 0}, {"c", {1}, 10, 0}};
  EXPECT_EQ(Forecast(chain, 8).most_at_once(), 1);
  std::vector<ForecastStep> fan = {{"base"}};
  for (int i = 0; i < 6; ++i) fan.push_back({"leaf" + std::to_string(i), {0}});
  EXPECT_EQ(Forecast(fan, 4).most_at_once(), 4);
  EXPECT_EQ(Forecast(fan, 64).most_at_once(), 6) << "though none of them was ever run";
  EXPECT_EQ(Forecast({}, 4).most_at_once(), 1);
}

class OpenSteps : public ::testing::Test {
 protected:
  OpenSteps() { EXPECT_EQ(small.build().exit_code(), ExitCode::ok); }
  ClosedSteps closed() {
    StateNames names(small.state, small.files);
    return closed_steps(small.plan, all_images(small.plan), names, small.state, small.files);
  }
  std::size_t open(const ClosedSteps& closed) const {
    return open_steps(small.plan, all_images(small.plan), closed).size();
  }
  StepTable::Number step(std::size_t image, std::size_t number) const {
    return small.plan.image(image).steps().at(number);
  }
  std::string key(std::size_t image, std::size_t number) const {
    return small.plan.steps().hex(step(image, number));
  }
  void forget(const std::string& step) { RecordWriter(small.state, small.files).remove_step(step); }
  testing::SmallState small;
};

TEST_F(OpenSteps, WhereAllRecordsAreThereNoneIsClosed) {
  EXPECT_TRUE(closed().empty());
  EXPECT_EQ(open({}), 5u) << "a base, and a step and a test of each image";
}

TEST_F(OpenSteps, AStepIsClosedAboveOneWithoutARecord) {
  forget(key(0, 0));
  EXPECT_EQ(closed(), (ClosedSteps{step(0, 1), step(1, 1)}));
  EXPECT_EQ(open(closed()), 4u) << "the base stands only below them";
  forget(key(1, 1));
  EXPECT_EQ(closed(), ClosedSteps{step(0, 1)});
  EXPECT_EQ(open(closed()), 5u) << "one of the images has to be made from the base";
}

TEST_F(OpenSteps, AStepIsNotClosedWithoutTheLayersBelowIt) {
  const StepRecord base = *RecordReader(small.state, small.files).step(key(0, 0));
  forget(key(0, 0));
  fs::resize_file(BlobStore(small.state.store()).path(base.chain.layers[0].blob.digest), 3);
  EXPECT_TRUE(closed().empty());
}

TEST_F(OpenSteps, AClosedStepAsksNinjaForNothing) {
  NinjaOptions options{"kiln", "state", {}, "m"};
  const std::string edge = "build steps/" + key(0, 1) + ".json: step";
  EXPECT_NE(render_ninja(small.plan, options).find(edge + " || steps/" + key(0, 0)), std::string::npos);
  options.closed = {key(0, 1)};
  EXPECT_NE(render_ninja(small.plan, options).find(edge + "\n"), std::string::npos);
}

// Another builder of the same plan.
TEST_F(OpenSteps, OfWhatOthersHaveRunTheUppermostIsFetched) {
  testing::SmallState other;
  const fs::path folder = other.folder.path() / "shared";
  fs::create_directory(folder);
  StepSharing place;
  place.folder = folder.string();
  place.is_private = true;
  auto setup_of = [&place](testing::SmallState& one) {
    BuildSetup setup{one.plan,  all_images(one.plan), one.recipes, one.site, one.state,
                     one.files, one.runner,           one.clock,   {}};
    setup.open_shared = [&one, &place](const std::function<void(const std::string&)>& tell) {
      return std::make_unique<SharedSteps>(SharedStepsSetup{
          place, one.site.pull_limits, one.state, one.files, one.runner, one.clock, {}, tell});
    };
    return setup;
  };
  small.site.shared_steps = other.site.shared_steps = place;
  std::string said;
  Progress progress(
      ProgressStyle::plain, other.clock, [&](const std::string& text) { said += text; }, false);
  BuildReport report;
  fetch_steps(setup_of(other), all_images(other.plan), 4, progress, report);
  EXPECT_EQ(report.steps_fetched, 0u) << "nobody has given anything";
  share_steps(setup_of(small), all_images(small.plan), progress);
  fetch_steps(setup_of(other), all_images(other.plan), 4, progress, report);
  EXPECT_EQ(report.steps_fetched, 4u) << "all but the base: " << said;
  EXPECT_NE(said.find("fetched hello 1"), std::string::npos) << said;
  EXPECT_FALSE(other.files.exists(other.state.step(key(0, 0))));
  EXPECT_TRUE(other.files.exists(other.state.step(key(0, 1))));
  // One that is not believed makes those below it wanted.
  testing::SmallState third;
  fs::permissions(folder / "steps" / ("step-" + key(1, 1) + ".json"), fs::perms::group_write,
                  fs::perm_options::add);
  BuildReport less;
  fetch_steps(setup_of(third), all_images(third.plan), 1, progress, less);
  EXPECT_EQ(less.steps_fetched, 4u) << "the base in its place: " << said;
  EXPECT_TRUE(third.files.exists(third.state.step(key(0, 0))));
  EXPECT_FALSE(third.files.exists(third.state.step(key(1, 1))));
}

TEST(ExpectedBuild, IsToldWithItsStepsAndJobs) {
  EXPECT_EQ(text_of(ExpectedBuild{14, 2, {742, 61.5}}),
            "expected: about 12 min, give or take 62 s, for 14 steps, 2 at a time");
  EXPECT_EQ(text_of(ExpectedBuild{1, 1, {3, 0}}),
            "expected: about 3 s, give or take 1 s, for 1 step, 1 at a time");
}

TEST_F(OpenSteps, WhatNeverRanHereHasNoExpectedTime) {
  StateNames names(small.state, small.files);
  EXPECT_FALSE(expected_build(small.plan, all_images(small.plan), names, small.state, small.files, 2));
}

}  // namespace
}  // namespace kiln
