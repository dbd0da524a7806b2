// Whole nights: how a part that fails, a lock, a clock or a gate ends in the report and in the metrics.
#include "factory/app/night_course.h"

#include "app/night_fixture.h"
#include "factory/app/night_metrics.h"

namespace kiln {
namespace {

using NightCourse = NightFixture;

TEST_F(NightCourse, WhatIsUpToDateIsAGreenNight) {
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green);
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.images.size(), 2u);
  EXPECT_TRUE(report.troubles.empty());
  EXPECT_EQ(parts_.published, 1);
  EXPECT_EQ(report.every, 86'400);
  for (const char* phase : {"lockfile", "plan", "build", "publish", "collect"})
    EXPECT_TRUE(report.phases.contains(phase)) << phase;
  EXPECT_NE(text(report, "junit.xml").find("failures=\"0\" errors=\"0\""), std::string::npos);
}

TEST_F(NightCourse, EveryPartThatFailsIsATroubleAndTheNightGoesOn) {
  parts_.on_lockfile = [] { throw Error(ExitCode::network, "debian.org: connection refused"); };
  parts_.on_collect = [](std::optional<Error>& in_registry) {
    in_registry = Error(ExitCode::network, "registry.site:5000: 403 Forbidden");
  };
  const NightReport report = run();
  ASSERT_EQ(report.troubles.size(), 2u);
  EXPECT_EQ(report.troubles[0].cause, TroubleCause::network);
  EXPECT_EQ(report.troubles[1].cause, TroubleCause::refused);
  EXPECT_EQ(parts_.published, 1);
  EXPECT_EQ(parts_.told, std::vector<NightState>{NightState::red});
}

// Its images stay as they were published, and no longer follow their parent.
TEST_F(NightCourse, ADamagedApplicationMakesTheNightRed) {
  parts_.damaged = {Error(ExitCode::store, {"/state/derived/train.json", 3, 1, ""}, "unexpected character")};
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.exit_code, 8);
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].cause, TroubleCause::disk);
  EXPECT_EQ(report.troubles[0].subject, "/state/derived/train.json");
  EXPECT_NE(report.troubles[0].advice.find("kiln derive --remove"), std::string::npos);
  EXPECT_EQ(parts_.published, 1) << "the other images";
}

TEST_F(NightCourse, TroubleThatStaysKnowsSinceWhen) {
  parts_.on_publish = [](NightPublication&) { throw Error(ExitCode::network, "connection refused"); };
  EXPECT_EQ(run().troubles.at(0).actor, Actor::nobody);
  EXPECT_EQ(run().troubles.at(0).since, 1);
  const NightReport third = run();
  EXPECT_EQ(third.troubles.at(0).since, 1);
  EXPECT_EQ(third.troubles.at(0).actor, Actor::site);
  parts_.on_publish = nullptr;
  EXPECT_EQ(run().state, NightState::green);
}

TEST_F(NightCourse, AnImageThatFailsMakesTheNightRedAndTheOtherIsPublished) {
  parts_.on_build = [](NightBuild& night) { night.report.images.front().outcome = Outcome::failed; };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_TRUE(report.troubles.empty());
  EXPECT_EQ(parts_.published, 1);
}

TEST_F(NightCourse, AnImageForWhichThereWasNoTimeLeavesTheNightGreen) {
  parts_.on_build = [](NightBuild& night) {
    night.report.images.front().outcome = Outcome::not_reached;
    night.no_time.insert(night.report.images.front().id);
  };
  EXPECT_EQ(run().state, NightState::green);
}

TEST_F(NightCourse, AClosedGateHoldsWhatIsGood) {
  site_.night.gate = {{"both", {"framework=pytorch"}}};
  EXPECT_EQ(run().state, NightState::green);
  EXPECT_EQ(parts_.published, 1);
  parts_.on_build = [](NightBuild& night) { night.report.images.front().outcome = Outcome::failed; };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::held);
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(parts_.published, 1) << "not again";
}

TEST_F(NightCourse, EachPhaseHasItsSeconds) {
  parts_.on_build = [this](NightBuild&) { clock_.now += 600; };
  parts_.on_publish = [this](NightPublication&) {
    clock_.now += 60;
    throw Error(ExitCode::network, "connection refused");
  };
  const NightReport report = run();
  EXPECT_EQ(report.phases.at("build"), 600);
  EXPECT_EQ(report.phases.at("publish"), 60) << "also of a phase that failed";
  EXPECT_EQ(report.phases.at("plan"), 0);
}

TEST_F(NightCourse, AForgedStepIsRedThoughAllImagesAreGood) {
  parts_.on_build = [](NightBuild& night) {
    night.report.steps_run = 2;
    night.report.steps_fetched = 5;
    night.report.add({"key", "busybox (distro)", "its signature does not match"});
  };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.exit_code, 1);
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].cause, TroubleCause::forged);
  EXPECT_EQ(report.steps_run, 2u);
  EXPECT_EQ(report.steps_fetched, 5u);
}

TEST_F(NightCourse, ABuildThatWasKilledIsATrouble) {
  parts_.on_build = [](NightBuild& night) {
    night.report.stopped = "ninja was killed by signal 9";
    for (ImageOutcome& image : night.report.images) image.outcome = Outcome::not_reached;
  };
  const NightReport report = run();
  EXPECT_EQ(report.exit_code, 1);
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].actor, Actor::site);
  EXPECT_EQ(text(report, "junit.xml").find("failures=\"0\" errors=\"0\""), std::string::npos);
}

TEST_F(NightCourse, WarningsAndRemarksOfThePlanAreInItsReport) {
  parts_.heard = {"warning: this exclude matches no cell"};
  parts_.on_plan = [](std::vector<std::string>& remarks) { remarks.push_back("a base floats"); };
  const NightReport report = run();
  EXPECT_EQ(report.warnings, parts_.heard);
  EXPECT_EQ(report.remarks, std::vector<std::string>{"a base floats"});
  EXPECT_EQ(report.state, NightState::green);
}

TEST_F(NightCourse, AGateThatChoosesNothingIsTheSitesAndBuildsNothing) {
  site_.night.gate = {{"none", {"compiler=tvm"}}};
  const NightReport report = run();
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_TRUE(report.images.empty());
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].actor, Actor::site);
  EXPECT_NE(report.troubles[0].what.find("the gate 'none'"), std::string::npos) << report.troubles[0].what;
}

TEST_F(NightCourse, ANoticeThatWasNotDeliveredIsInTheReportThatStays) {
  parts_.on_tell = [] { throw Error(ExitCode::network, "the webhook answered 500"); };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green) << "no night fails for it";
  EXPECT_NE(text(report, "night.json").find("the webhook answered 500"), std::string::npos);
}

TEST_F(NightCourse, AClockThatWentBackIsRemarked) {
  run();
  clock_.now -= 10 * 86'400;
  const NightReport report = run();
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_TRUE(report.remarks[0].starts_with("the clock went back")) << report.remarks[0];
}

TEST_F(NightCourse, OfAnotherKilnThatHoldsTheStateFolderIsReportedAndTold) {
  const NightReport report =
      refuse_night(setup(), Error(ExitCode::locked, "kiln build of demo by process 12 holds it"), parts_);
  EXPECT_EQ(report.number, 1);
  EXPECT_EQ(report.started, clock_.now);
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.troubles.at(0).cause, TroubleCause::lock);
  EXPECT_EQ(parts_.told.size(), 1u);
  EXPECT_EQ(parts_.published, 0);
  EXPECT_NE(text(report, "report.html"), "");
}

TEST_F(NightCourse, OneThatWasToldToEndIsInterrupted) {
  parts_.on_build = [](NightBuild& night) { night.report.interrupted = true; };
  const NightReport report = run();
  EXPECT_EQ(report.exit_code, 130);
  EXPECT_EQ(parts_.published, 0);
}

// A dead man's switch: what was begun is on disk before anything can be killed.
TEST_F(NightCourse, MetricsSayThatItBeganBeforeItEnds) {
  run();
  parts_.on_build = [this](NightBuild&) {
    const std::string text = read_metrics(state_, files_);
    EXPECT_NE(
        text.find("kiln_night_started_timestamp_seconds{matrix=\"demo\"} " + std::to_string(clock_.now)),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("kiln_night_ended_timestamp_seconds{matrix=\"demo\"} " +
                        std::to_string(clock_.now - 86'400)),
              std::string::npos)
        << text;
  };
  run();
  EXPECT_NE(read_metrics(state_, files_).find("kiln_night_number{matrix=\"demo\"} 2\n"), std::string::npos);
}

TEST_F(NightCourse, MetricsThatCannotBeWrittenAreAWarning) {
  root_.write("taken", "a file");
  site_.night.metrics = (root_ / "taken").string();
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].find("kiln.prom"), std::string::npos);
}

}  // namespace
}  // namespace kiln
