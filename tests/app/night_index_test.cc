// Whole nights: what they do in the index and in the registry, from publishing and measuring to a lost index.
#include "app/night_fixture.h"
#include "support/built_image.h"

namespace kiln {
namespace {

using NightIndex = NightFixture;

TEST_F(NightIndex, ARegistryThatRefusesTheLoginIsTheSitesInEveryReport) {
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

TEST_F(NightIndex, WhatIsNewIsMeasuredAfterItIsPublishedAndPublishedAgain) {
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

TEST_F(NightIndex, EachPublicationThatPushedIsInTheReport) {
  measures_ = true;
  parts_.on_measure = [](const std::vector<NightImage>&, NightMeasuring& done) { done.sessions = 1; };
  parts_.on_publish = [this](NightPublication& done) {
    done.pushed = fmt::format("registry.site:5000/ai: {} pushed", parts_.published);
  };
  EXPECT_EQ(run().registry, "registry.site:5000/ai: 1 pushed; registry.site:5000/ai: 2 pushed");
  parts_.on_publish = [this](NightPublication& done) {
    if (parts_.published == 3) done.pushed = "registry.site:5000/ai: 3 pushed";
  };
  EXPECT_EQ(run().registry, "registry.site:5000/ai: 3 pushed") << "the second pushed nowhere";
}

TEST_F(NightIndex, AnAdministratorsSnapshotIsHeldAndItsRegistryLookedAt) {
  const BuildPlan built = plan();
  std::vector<ImageRecord> records;
  for (std::uint32_t number : all_images(built))
    records.push_back(testing::make_built(testing::names_of(built.image(number)), state_, files_));
  parts_.root = root_.path();
  Index index = Index::open(root_.path(), Index::Mode::write);
  const std::int64_t first = index.publish({records[0]}, {}, "2026-11-20T10:00:00Z", built.name());
  index.publish({records[1]}, {}, "2026-11-21T10:00:00Z", built.name());
  index.rollback(first);
  const NightReport report = run();
  EXPECT_EQ(report.state, NightState::held);
  EXPECT_EQ(parts_.published, 0);
  EXPECT_EQ(parts_.followed, 1);
  index.release();
  EXPECT_EQ(run().state, NightState::green);
  EXPECT_EQ(parts_.published, 1);
}

TEST_F(NightIndex, ANightMeasuresOnlyWhereItIsAskedToAndPublishes) {
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

TEST_F(NightIndex, AProvenImageThatFallsBackIsRedUntilItIsProvenAgain) {
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

TEST_F(NightIndex, WhatFailsInMeasuringIsATroubleAndTheNightGoesOn) {
  measures_ = true;
  parts_.on_measure = [](const std::vector<NightImage>&, NightMeasuring& done) {
    done.sessions = 1;
    throw Error(ExitCode::store, "no room");
  };
  const NightReport report = run();
  EXPECT_EQ(report.troubles.at(0).cause, TroubleCause::disk);
  EXPECT_EQ(parts_.published, 2) << "the first session has words";
}

TEST_F(NightIndex, TagsAndWhatWasFoundInTheRegistryAreTroubles) {
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

TEST_F(NightIndex, WhatPublishesNothingLooksAtTheRegistryAllTheSame) {
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

TEST_F(NightIndex, ALostIndexIsMadeAgainAndRemarked) {
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

TEST_F(NightIndex, AnIndexWithAFlippedBitIsMendedAndRemarked) {
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

}  // namespace
}  // namespace kiln
