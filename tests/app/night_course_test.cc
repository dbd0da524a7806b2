// Whole nights, whose parts do as the test says.
#include "factory/app/night_course.h"

#include <gtest/gtest.h>

#include <functional>

#include "factory/app/night_metrics.h"
#include "factory/base/unexpected.h"
#include "support/built_image.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class FakeParts : public NightParts {
 public:
  explicit FakeParts(BuildPlan plan) : plan_(std::move(plan)) {}

  std::vector<LockChange> move_lockfile(LockNews&) override {
    if (on_lockfile) on_lockfile();
    return {};
  }
  const BuildPlan& plan(std::vector<std::string>& remarks) override {
    if (on_plan) on_plan(remarks);
    return plan_;
  }
  void build(const std::vector<LockChange>&, NightBuild& night) override {
    for (std::uint32_t number : all_images(plan_)) {
      const ResolvedImage image = plan_.image(number);
      ImageOutcome outcome;
      outcome.id = image.id();
      outcome.name = image.reference();
      outcome.key = image.key();
      outcome.outcome = Outcome::up_to_date;
      night.report.images.push_back(outcome);
    }
    if (on_build) on_build(night);
  }
  NightPublication publish() override {
    ++published;
    NightPublication done;
    if (on_publish) on_publish(done);
    return done;
  }
  NightPublication follow() override {
    ++followed;
    return {};
  }
  void measure(const std::vector<NightImage>& before, NightMeasuring& done) override {
    if (on_measure) on_measure(before, done);
  }
  std::string collect(std::optional<Error>& in_registry) override {
    if (on_collect) on_collect(in_registry);
    return "";
  }
  std::optional<Index> open_index(Index::Mode mode) override {
    if (mode == Index::Mode::write) ++written;
    if (root.empty()) return std::nullopt;
    return Index::open(root, mode);
  }
  void need_lease() override {}
  void say(const std::string& line) override { said.push_back(line); }
  void tell(const NightReport& report) override {
    told.push_back(report.state);
    if (on_tell) on_tell();
  }
  std::vector<std::string> warnings() override { return heard; }

  std::function<void()> on_lockfile, on_tell;
  std::function<void(std::vector<std::string>&)> on_plan;
  std::function<void(NightBuild&)> on_build;
  std::function<void(NightPublication&)> on_publish;
  std::function<void(std::optional<Error>&)> on_collect;
  std::function<void(const std::vector<NightImage>&, NightMeasuring&)> on_measure;
  std::vector<std::string> heard, said;
  std::vector<NightState> told;
  int published = 0, followed = 0, written = 0;
  fs::path root;  // of an index; "" = there is none

 private:
  BuildPlan plan_;
};

class NightCourseTest : public ::testing::Test {
 protected:
  static BuildPlan plan() {
    static const testing::Resolver resolver;
    return plan_matrix(
        testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("version", {"2.6.0"}),
                         testing::axis("base", {"debian"}), testing::axis("method", {"distro", "pip"}),
                         testing::axis("target", {"x86_64_v3"})}),
        resolver.input());
  }

  NightReport run() {
    clock_.now += 86'400;
    return run_night(setup(), parts_);
  }
  NightSetup setup() {
    return {"demo", site_, state_, files_, clock_, "registry.site:5000/ai", "", true, true, false, measures_};
  }

  std::string text(const NightReport& report, const char* file) {
    return root_.read("nights/demo/" + std::to_string(report.number) + "/" + file);
  }

  testing::TemporaryFolder root_;
  RealFileSystem files_;
  testing::FakeClock clock_;
  Site site_;
  StatePaths state_{root_.path()};
  FakeParts parts_{plan()};
  bool measures_ = false;
};

TEST_F(NightCourseTest, WhatIsUpToDateIsAGreenNight) {
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

TEST_F(NightCourseTest, ARegistryThatRefusesTheLoginIsTheSitesInEveryReport) {
  parts_.on_publish = [](NightPublication&) {
    throw Error(ExitCode::network, "registry.site:5000/ai/hello: asking: 401 Unauthorized", "log in");
  };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.exit_code, 6);
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].cause, TroubleCause::refused);
  EXPECT_EQ(report.troubles[0].actor, Actor::site);
  EXPECT_EQ(report.troubles[0].subject, "registry.site:5000/ai");
  EXPECT_EQ(text(report, "junit.xml").find("failures=\"0\" errors=\"0\""), std::string::npos);
  for (const char* file : {"junit.xml", "report.html", "night.json"})
    EXPECT_NE(text(report, file).find("401 Unauthorized"), std::string::npos) << file;
}

TEST_F(NightCourseTest, EveryPartThatFailsIsATroubleAndTheNightGoesOn) {
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

TEST_F(NightCourseTest, WhatIsNewIsMeasuredAfterItIsPublishedAndPublishedAgain) {
  measures_ = true;
  parts_.on_measure = [this](const std::vector<NightImage>& before, NightMeasuring& done) {
    EXPECT_EQ(parts_.published, 1);
    EXPECT_TRUE(before.empty());
    done.sessions = 2;
    done.remarks = {"not measured: mlp in 3 images: the time was up"};
  };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green);
  EXPECT_EQ(parts_.published, 2);
  EXPECT_TRUE(report.phases.contains("measure"));
  EXPECT_EQ(report.remarks, std::vector<std::string>{"not measured: mlp in 3 images: the time was up"});
  parts_.on_measure = [](const std::vector<NightImage>& before, NightMeasuring&) {
    EXPECT_EQ(before.size(), 2u);
  };
  run();
  EXPECT_EQ(parts_.published, 3) << "nothing was measured";
}

TEST_F(NightCourseTest, ANightMeasuresOnlyWhereItIsAskedToAndPublishes) {
  int measured = 0;
  parts_.on_measure = [&](const std::vector<NightImage>&, NightMeasuring&) { ++measured; };
  run();
  measures_ = true;
  parts_.on_build = [](NightBuild& night) {
    for (ImageOutcome& image : night.report.images) image.outcome = Outcome::not_reached;
  };
  run();
  EXPECT_EQ(measured, 0);
}

// In seven rounds against stock, on this day of November.
void record_gain(Index& index, const ImageRecord& image, int day, double low, double high) {
  Measurement one;
  one.image = image.manifest;
  one.key = image.key;
  one.workload = "mnist-cnn";
  one.unit = "ms/step";
  one.median = 100;
  one.host.cpu = "zen3";
  one.session = one.taken = fmt::format("2026-11-{}T00:00:00Z", day);
  one.rounds = kProvingRounds;
  one.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
  index.record(one);
}

TEST_F(NightCourseTest, AProvenImageThatFallsBackIsRedUntilItIsProvenAgain) {
  const BuildPlan built = plan();
  std::vector<ImageRecord> records;
  for (std::uint32_t number : all_images(built))
    records.push_back(testing::make_built(testing::names_of(built.image(number)), state_, files_));
  Index index = Index::open(root_.path(), Index::Mode::write);
  index.publish(records, {}, "2026-11-20T10:00:00Z", built.name());
  parts_.root = root_.path();
  record_gain(index, records[0], 21, 1.1, 1.3);
  record_gain(index, records[1], 21, 0.9, 1.1);
  EXPECT_EQ(run().state, NightState::green);
  record_gain(index, records[0], 22, 0.95, 1.03);
  record_gain(index, records[1], 22, 0.8, 0.9);
  for (int night = 2; night <= 3; ++night) {
    const NightReport report = run();
    EXPECT_EQ(report.state, NightState::red);
    EXPECT_EQ(report.exit_code, 1);
    ASSERT_EQ(report.troubles.size(), 1u) << "the other never was proven";
    EXPECT_EQ(report.troubles[0].cause, TroubleCause::gain);
    EXPECT_EQ(report.troubles[0].subject, records[0].name());
    EXPECT_EQ(report.troubles[0].since, 2);
    EXPECT_NE(text(report, "report.html").find("proven before night 2, and no gain by now"),
              std::string::npos);
  }
  record_gain(index, records[0], 23, 1.1, 1.2);
  EXPECT_EQ(run().state, NightState::green);
}

TEST_F(NightCourseTest, WhatFailsInMeasuringIsATroubleAndTheNightGoesOn) {
  measures_ = true;
  parts_.on_measure = [](const std::vector<NightImage>&, NightMeasuring& done) {
    done.sessions = 1;
    throw Error(ExitCode::store, "no room");
  };
  const NightReport report = run();
  EXPECT_EQ(report.troubles.at(0).cause, TroubleCause::disk);
  EXPECT_EQ(parts_.published, 2) << "the first session has words";
}

TEST_F(NightCourseTest, TroubleThatStaysKnowsSinceWhen) {
  parts_.on_publish = [](NightPublication&) { throw Error(ExitCode::network, "connection refused"); };
  EXPECT_EQ(run().troubles.at(0).actor, Actor::nobody);
  EXPECT_EQ(run().troubles.at(0).since, 1);
  const NightReport third = run();
  EXPECT_EQ(third.troubles.at(0).since, 1);
  EXPECT_EQ(third.troubles.at(0).actor, Actor::site);
  parts_.on_publish = nullptr;
  EXPECT_EQ(run().state, NightState::green);
}

TEST_F(NightCourseTest, TagsAndWhatWasFoundInTheRegistryAreTroubles) {
  parts_.on_publish = [](NightPublication& done) {
    done.foreign = {"hello:2.10: names sha256:aa there"};
    done.lost = {"hello: layer sha256:bb", "hello: layer sha256:cc"};
    done.mended = {"hello: layer sha256:dd"};
  };
  const NightReport report = run();
  ASSERT_EQ(report.troubles.size(), 2u);
  EXPECT_EQ(report.troubles[0].subject, "hello:2.10");
  EXPECT_EQ(report.troubles[1].cause, TroubleCause::registry);
  EXPECT_EQ(report.troubles[1].actor, Actor::site);
  EXPECT_EQ(report.troubles[1].what,
            "the registry lacks 2 parts that the index answers with: hello: layer sha256:bb (and 1 more)");
  EXPECT_EQ(report.remarks,
            (std::vector<std::string>{
                "the registry had lost a part, which was pushed again: hello: layer sha256:dd"}));
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_EQ(parts_.followed, 0);
}

TEST_F(NightCourseTest, WhatPublishesNothingLooksAtTheRegistryAllTheSame) {
  parts_.on_build = [](NightBuild& night) {
    for (ImageOutcome& image : night.report.images) image.outcome = Outcome::failed;
  };
  run();
  EXPECT_EQ(parts_.followed, 0) << "there is no index";
  parts_.root = root_.path();
  { const Index made = Index::open(root_.path(), Index::Mode::write); }
  run();
  EXPECT_EQ(parts_.published, 0);
  EXPECT_EQ(parts_.followed, 1);
}

TEST_F(NightCourseTest, AForgedStepIsRedThoughAllImagesAreGood) {
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

TEST_F(NightCourseTest, ABuildThatWasKilledIsATrouble) {
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

TEST_F(NightCourseTest, WarningsAndRemarksOfThePlanAreInItsReport) {
  parts_.heard = {"warning: this exclude matches no cell"};
  parts_.on_plan = [](std::vector<std::string>& remarks) { remarks.push_back("a base floats"); };
  const NightReport report = run();
  EXPECT_EQ(report.warnings, parts_.heard);
  EXPECT_EQ(report.remarks, std::vector<std::string>{"a base floats"});
  EXPECT_EQ(report.state, NightState::green);
}

TEST_F(NightCourseTest, AGateThatChoosesNothingIsTheSitesAndBuildsNothing) {
  site_.night.gate = {{"none", {"compiler=tvm"}}};
  const NightReport report = run();
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_TRUE(report.images.empty());
  ASSERT_EQ(report.troubles.size(), 1u);
  EXPECT_EQ(report.troubles[0].actor, Actor::site);
  EXPECT_NE(report.troubles[0].what.find("the gate 'none'"), std::string::npos) << report.troubles[0].what;
}

TEST_F(NightCourseTest, ANoticeThatWasNotDeliveredIsInTheReportThatStays) {
  parts_.on_tell = [] { throw Error(ExitCode::network, "the webhook answered 500"); };
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green) << "no night fails for it";
  EXPECT_NE(text(report, "night.json").find("the webhook answered 500"), std::string::npos);
}

TEST_F(NightCourseTest, ALostIndexIsMadeAgainAndRemarked) {
  run();
  NightReport before = run();
  std::string json = text(before, "night.json");
  json.replace(json.find("\"snapshot\": 0"), 13, "\"snapshot\": 4");
  root_.write("nights/demo/2/night.json", json);
  const NightReport report = run();
  EXPECT_EQ(parts_.written, 1);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("was missing: made again from its sidecars"), std::string::npos);
}

TEST_F(NightCourseTest, AnIndexWithAFlippedBitIsMendedAndRemarked) {
  const BuildPlan built = plan();
  std::vector<ImageRecord> records;
  for (std::uint32_t number : all_images(built))
    records.push_back(testing::make_built(testing::names_of(built.image(number)), state_, files_));
  Index::open(root_.path(), Index::Mode::write).publish(records, {}, "2026-11-27T10:00:00Z", built.name());
  parts_.root = root_.path();
  EXPECT_TRUE(run().remarks.empty());
  std::string bytes = root_.read("index.db");
  const std::size_t of_a_tag = bytes.find("[\"" + built.name() + "\"]");
  ASSERT_NE(of_a_tag, std::string::npos);
  bytes[of_a_tag + 3] ^= 1;
  root_.write("index.db", bytes);
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("is not what was written: made again from its sidecars"),
            std::string::npos)
      << report.remarks[0];
  EXPECT_EQ(Index::open(root_.path(), Index::Mode::read).entries().size(), 2u);
  EXPECT_TRUE(run().remarks.empty());
}

TEST_F(NightCourseTest, AClockThatWentBackIsRemarked) {
  run();
  clock_.now -= 10 * 86'400;
  const NightReport report = run();
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_TRUE(report.remarks[0].starts_with("the clock went back")) << report.remarks[0];
}

TEST_F(NightCourseTest, OfAnotherKilnThatHoldsTheStateFolderIsReportedAndTold) {
  const NightReport report =
      refuse_night(setup(), Error(ExitCode::locked, "kiln build of demo by process 12 holds it"), parts_);
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.troubles.at(0).cause, TroubleCause::lock);
  EXPECT_EQ(parts_.told.size(), 1u);
  EXPECT_EQ(parts_.published, 0);
  EXPECT_NE(text(report, "report.html"), "");
}

TEST_F(NightCourseTest, OneThatWasToldToEndIsInterrupted) {
  parts_.on_build = [](NightBuild& night) { night.report.interrupted = true; };
  const NightReport report = run();
  EXPECT_EQ(report.exit_code, 130);
  EXPECT_EQ(parts_.published, 0);
}

// A dead man's switch: what was begun is on disk before anything can be killed.
TEST_F(NightCourseTest, MetricsSayThatItBeganBeforeItEnds) {
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

TEST_F(NightCourseTest, MetricsThatCannotBeWrittenAreAWarning) {
  root_.write("taken", "a file");
  site_.night.metrics = (root_ / "taken").string();
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::green);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].find("kiln.prom"), std::string::npos);
}

}  // namespace
}  // namespace kiln
