#include "factory/run/kept_runs.h"

#include <gtest/gtest.h>

#include "factory/bench/session.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

// Its manifest, config and layer are in the store.
ImageRecord measured_image(const BlobStore& store, const std::string& key) {
  Manifest manifest;
  manifest.config = store.put("config of " + key, std::string(media_type::kConfig));
  manifest.layers = {store.put("layer of " + key, std::string(media_type::kLayerZstd))};
  ImageRecord image;
  image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
  image.repository = image.application = "pytorch";
  image.tag = key;
  image.immutable_tag = key + "-0123456789ab";
  image.key = key;
  image.version = Version("2.6.0");
  image.method = "distro";
  image.cpu = "x86_64_v3";
  return image;
}

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : {"a", "b"}) images.push_back(measured_image(store, key));
    index.publish(images, {}, "2026-11-20T10:00:00Z", "");
  }

  static BenchRun run_of(const std::string& key, int round, double median, const std::string& session = "s") {
    BenchRun run;
    run.workload = "mnist-cnn";
    run.unit = "ms/step";
    run.samples = {median, median + 1, median};
    run.key = key;
    run.host.model = "AMD EPYC";
    run.host.cores = 2;
    run.host.features = {"avx2"};
    run.round = round;
    run.session = session;
    run.taken = "2026-11-24T12:0" + std::to_string(round) + ":00Z";
    return run;
  }

  std::vector<Measurement> of(const std::string& key) const {
    for (const IndexEntry& entry : index.entries())
      if (entry.image.key == key) return entry.measurements;
    return {};
  }

  testing::MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
  Index index = Index::open(folder.path(), Index::Mode::write);
  std::vector<ImageRecord> images;
};

// As a kill between two rounds leaves them: one figure for each session, of its complete rounds.
TEST_F(Recorded, EachRoundReplacesTheFigureOfItsSession) {
  SessionRecords records(index);
  std::vector<BenchRun> runs = {run_of("a", 0, 10), run_of("b", 0, 5)};
  EXPECT_EQ(records.put(runs), 2u);
  ASSERT_EQ(of("b").size(), 1u);
  EXPECT_EQ(of("b")[0].rounds, 1);
  runs.push_back(run_of("b", 1, 6));
  records.put(runs);
  EXPECT_EQ(of("b")[0].rounds, 1) << "round 1 lacks an image";
  runs.push_back(run_of("a", 1, 12));
  records.put(runs);
  ASSERT_EQ(of("b").size(), 1u);
  EXPECT_EQ(of("b")[0].rounds, 2);
  EXPECT_DOUBLE_EQ(of("b")[0].median, 5.5);
  EXPECT_EQ(of("b")[0].image, images[1].manifest);
  EXPECT_TRUE(of("b")[0].host.features.empty());
  ASSERT_EQ(of("b")[0].gains.size(), 1u);
  EXPECT_DOUBLE_EQ(of("b")[0].gains[0].ratio, 2);
  EXPECT_EQ(records.find("b")->measurements.size(), 1u);
  records.put({run_of("a", 0, 10, "t")});
  EXPECT_EQ(of("a").size(), 2u) << "another session is another figure";
}

TEST_F(Recorded, WhatLosesItsRunsIsWithdrawn) {
  SessionRecords records(index);
  const std::vector<BenchRun> runs = {run_of("a", 0, 10), run_of("b", 0, 5)};
  records.put(runs);
  records.put({runs[0]}, {runs[1]});
  EXPECT_EQ(of("a").size(), 1u);
  EXPECT_TRUE(of("b").empty());
  EXPECT_TRUE(records.find("b")->measurements.empty());
  SessionRecords(index).put(runs);  // taken back
  ASSERT_EQ(of("b").size(), 1u);
  EXPECT_DOUBLE_EQ(of("b")[0].median, 5);
}

TEST_F(Recorded, AnOldMeasurementIsKnownByItsTime) {
  BenchRun run = run_of("a", 0, 10, "");
  Measurement old = measurement_of({run});
  old.image = images[0].manifest;
  old.session = "";
  index.record(old);
  old.taken = "2026-11-20T12:00:00Z";
  index.record(old);
  SessionRecords records(index);
  records.put({}, {run});
  ASSERT_EQ(of("a").size(), 1u);
  EXPECT_EQ(of("a")[0].taken, old.taken);
}

TEST_F(Recorded, ImagesThatTheIndexLacksAreLeftOut) {
  SessionRecords records(index);
  EXPECT_EQ(records.put({run_of("a", 0, 10), run_of("unknown", 0, 5)}), 1u);
  EXPECT_EQ(records.find("unknown"), nullptr);
}

TEST(OfTheirSessions, TakesWholeSessions) {
  BenchRun one, two, other;
  one.session = two.session = "s";
  two.round = 1;
  other.session = "t";
  EXPECT_EQ(of_their_sessions({one, two, other}, {one}).size(), 2u);
}

}  // namespace
}  // namespace kiln
