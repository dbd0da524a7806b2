#include "registry/select/select.h"

#include <fmt/format.h>

#include <random>

#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::mapped;
using testing::measured;
using testing::on;
using testing::optimised;
using testing::query;
using testing::Strings;
using testing::with;

// On the host that measured() measures on.
std::string winner(const ImageQuery& asked, const std::vector<IndexEntry>& entries,
                   const Host& where = host("haswell")) {
  Selection selection = select_image(asked, entries, where, archspec());
  return selection.winner ? selection.winner->entry->image.tag : "nothing";
}

TEST(Ranking, MeasuredSpeedComesFirst) {
  std::vector<IndexEntry> entries = {measured(image("stock"), 185),
                                     measured(optimised(image("optimised")), 303), optimised(image("new"))};
  EXPECT_EQ(winner(query(true), entries), "stock") << "an optimised build that is not faster must not win";
  entries[1] = measured(optimised(image("optimised")), 120);
  EXPECT_EQ(winner(query(true), entries), "optimised");
  EXPECT_EQ(winner(query(false), entries), "stock");
}

TEST(Ranking, TheNearestHostCounts) {
  std::vector<IndexEntry> entries = {
      measured(measured(image("a"), 100, "Xeon A", "haswell"), 400, "EPYC", "zen2"),
      measured(measured(image("b"), 200, "Xeon A", "haswell"), 300, "EPYC", "zen2"),
  };
  EXPECT_EQ(winner(query(), entries, host("haswell", {}, "Xeon A")), "a") << "the same model";
  EXPECT_EQ(winner(query(), entries, host("haswell", {}, "Xeon B")), "a") << "the same microarchitecture";
  EXPECT_EQ(winner(query(), entries, host("zen2", {}, "EPYC")), "b");
  std::swap(entries[0].image.tag, entries[1].image.tag);
  EXPECT_EQ(winner(query(), entries, host("broadwell", {}, "Xeon C")), "a") << "by name: of none is it known";
  EXPECT_EQ(winner(query(), entries, {}), "a") << "nor without a host";
}

TEST(Ranking, AMeasurementNearbyBeatsAFasterOneFarAway) {
  std::vector<IndexEntry> entries = {measured(image("here"), 200),
                                     measured(image("there"), 50, "EPYC", "zen2")};
  EXPECT_EQ(winner(query(), entries, host("haswell")), "here");
}

TEST(Ranking, TheSameProcessorWithAsManyCoresIsNearest) {
  IndexEntry a = measured(image("a"), 100);
  IndexEntry b = measured(image("b"), 90);
  a = measured(a, 10);
  a.measurements[1].host.cores = 64;
  b = measured(b, 20);
  b.measurements[1].host.cores = 64;
  EXPECT_EQ(winner(query(), {a, b}, host("haswell")), "b");
}

TEST(Ranking, OneWorkloadForAll) {
  std::vector<IndexEntry> entries = {
      measured(measured(image("a"), 5, "Xeon A", "haswell", "tiny"), 200),
      measured(image("b"), 100),
  };
  EXPECT_EQ(winner(query(), entries), "b") << "mnist-cnn was run on both";
  ImageQuery asked = query();
  asked.workload = "tiny";
  EXPECT_EQ(winner(asked, entries), "a");
  asked.workload = "never-run";
  Selection selection = select_image(asked, entries, host("haswell"), archspec());
  EXPECT_EQ(selection.winner->measured, nullptr);
}

TEST(Ranking, TheLatestMeasurementCounts) {
  IndexEntry a = measured(measured(image("a"), 50), 300);
  a.measurements[1].taken = "2026-12-01T00:00:00Z";
  EXPECT_EQ(winner(query(), {a, measured(image("b"), 100)}), "b");
}

TEST(Ranking, WithoutMeasurementsGoesByCodeAndVersion) {
  EXPECT_EQ(winner(query(true), {image("stock", "2.7"), optimised(image("optimised"))}), "optimised");
  EXPECT_EQ(winner(query(), {image("a", "2.7", "x86_64_v2"), image("b", "2.6", "x86_64_v3")}), "b")
      << "the best code for the host";
  EXPECT_EQ(winner(query(), {image("a", "2.7", "x86_64_v3"), image("b", "2.6", "x86_64_v2")}, {}), "b")
      << "no host: what runs in most places";
  EXPECT_EQ(winner(query(), {image("a", "2.9"), image("b", "2.10")}), "b") << "the newest";
  EXPECT_EQ(winner(query(), {image("b"), image("a")}), "a") << "by name";
}

TEST(Ranking, SpeedsOfDifferentUnitsDoNotCompare) {
  IndexEntry slow = measured(measured(image("a"), 9, "Xeon A", "haswell", "w"), 300);
  IndexEntry fast = measured(image("b"), 200);
  slow.measurements[0].unit = "images/s";
  EXPECT_EQ(winner(query(), {slow, fast}), "b");
}

TEST(Ranking, OfAUnitThatCountsUpwardsMoreIsBetter) {
  IndexEntry slow = measured(image("a"), 100);
  IndexEntry fast = measured(image("b"), 200);
  for (IndexEntry* entry : {&slow, &fast}) entry->measurements[0].unit = "images/s";
  EXPECT_EQ(winner(query(), {slow, fast}), "b");
  for (IndexEntry* entry : {&slow, &fast}) entry->measurements[0].unit = "points";
  EXPECT_EQ(winner(query(), {slow, fast}), "a") << "nobody knows which way points count";
}

TEST(Ranking, SpeedsWithinTheSpreadAreEqual) {
  IndexEntry a = measured(image("a", "2.6"), 100);
  IndexEntry b = measured(image("b", "2.7"), 101);
  EXPECT_EQ(winner(query(), {a, b}), "b") << "99..102 and 100..103 overlap: the newer version decides";
  b = measured(image("b", "2.7"), 104);
  EXPECT_EQ(winner(query(), {a, b}), "a") << "99..102 and 103..106 do not";
}

TEST(Ranking, AReleaseStandsBeforeAPreRelease) {
  std::vector<IndexEntry> entries = {measured(image("rc", "2.7.0rc1"), 10), image("old", "2.6.0")};
  EXPECT_EQ(winner(query(), entries), "old");
  ImageQuery asked = query();
  asked.version = VersionRange::parse(">=2.7.0rc1");
  EXPECT_EQ(winner(asked, entries), "rc");
  EXPECT_EQ(winner(query(), {entries[0]}), "rc") << "there is nothing else";
}

TEST(Ranking, StaleAndMappedStandBehind) {
  IndexEntry stale = image("a");
  stale.stale = true;
  EXPECT_EQ(winner(query(), {stale, image("b")}), "b");
  EXPECT_EQ(winner(query(), {stale, image("b", "2.5")}), "a") << "a newer version decides before";
}

TEST(Ranking, CodeForTheGpu) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  const Host h100 = host("haswell", {"nvidia:sm_90"});
  const std::vector<IndexEntry> entries = {on(image("ptx"), {"nvidia:sm_61"}),
                                           on(image("exact"), {"nvidia:sm_90"}),
                                           on(image("own"), {"nvidia:sm_90a"})};
  EXPECT_EQ(winner(asked, entries, h100), "own");
  EXPECT_EQ(winner(asked, {entries[0], entries[1]}, h100), "exact");
  const Host a40 = host("haswell", {"nvidia:sm_86"});
  EXPECT_EQ(winner(asked, {on(image("a"), {"nvidia:sm_61"}), on(image("b"), {"nvidia:sm_80"})}, a40), "b")
      << "an older one of the generation before PTX";
  const Host both = host("haswell", {"nvidia:sm_61", "nvidia:sm_90"});
  EXPECT_EQ(
      winner(asked, {on(image("a"), {"nvidia:sm_90", "nvidia:sm_52"}), on(image("b"), {"nvidia:sm_61"})},
             both),
      "b")
      << "sm_61 counts: there it has only PTX of a newer one, and does not run";
  EXPECT_EQ(winner(asked, {on(image("a"), {"nvidia:sm_90"}), on(image("b"), {"nvidia:sm_61"})}, {}), "b")
      << "no host: the widest reach";
}

TEST(Ranking, OfTwoWorkloadsRunOnAsManyImagesTheFirstByName) {
  std::vector<IndexEntry> entries = {measured(image("a"), 300, "Xeon A", "haswell", "alpha"),
                                     measured(image("b"), 10, "Xeon A", "haswell", "beta")};
  EXPECT_EQ(winner(query(), entries), "a") << "b was not measured with alpha";
}

TEST(Ranking, OfHostsEquallyNearTheOneThatRanMostImages) {
  std::vector<IndexEntry> entries = {
      measured(measured(image("a"), 10, "Atom"), 400, "Xeon"),
      measured(image("b"), 300, "Xeon"),
      measured(image("c"), 500, "Xeon"),
  };
  EXPECT_EQ(winner(query(), entries), "b");
}

TEST(Ranking, AHostMeasuredTwiceRanOneImage) {
  IndexEntry a = measured(measured(measured(image("a"), 10, "Xeon"), 10, "Xeon"), 10, "Xeon");
  std::vector<IndexEntry> entries = {measured(a, 400, "Zen"), measured(image("b"), 300, "Zen")};
  EXPECT_EQ(winner(query(), entries), "b");
}

TEST(Ranking, OfMeasurementsAtOneMomentTheFasterCounts) {
  for (auto [first, second] : {std::pair(50, 300), std::pair(300, 50)}) {
    IndexEntry a = measured(measured(image("a"), first), second);
    EXPECT_EQ(winner(query(), {a, measured(image("b"), 100)}), "a");
  }
}

TEST(Ranking, ALaterMeasurementOnAFartherHostDoesNotCount) {
  IndexEntry a = measured(measured(image("a"), 200), 20, "EPYC", "zen2");
  a.measurements[1].taken = "2027-01-01T00:00:00Z";
  EXPECT_EQ(winner(query(), {a, measured(image("b"), 100)}, host("haswell")), "b");
  std::swap(a.measurements[0], a.measurements[1]);
  EXPECT_EQ(winner(query(), {a, measured(image("b"), 100)}, host("haswell")), "b");
}

TEST(Ranking, WithoutAnAcceleratorAskedForTheFewerTheBetter) {
  IndexEntry gpu = mapped("a", {"nvidia"});
  IndexEntry plain = mapped("b");
  EXPECT_EQ(winner(query(false), {gpu, plain}, {}), "b");
  Selection selection = select_image(query(false), {gpu, plain}, {}, archspec());
  EXPECT_EQ(selection.reasons.at(2), "needs fewer accelerators than docker://example/pytorch");
  EXPECT_EQ(selection.reasons.back(), "a mapping: it was neither built nor tested here");
}

TEST(Ranking, OfEqualNamesTheFirstCode) { EXPECT_EQ(winner(query(false), {mapped("b"), mapped("a")}), "a"); }

// Every order of the entries gives the same ranking, of winners and of the others.
TEST(Ranking, DoesNotDependOnTheOrderOfTheEntries) {
  std::mt19937 random(42);
  const Strings cpus = {"x86_64",    "x86_64_v2",      "x86_64_v3", "haswell",
                        "broadwell", "skylake_avx512", "zen2",      "neoverse_n1"};
  std::vector<IndexEntry> entries;
  for (int i = 0; i < 60; ++i) {
    IndexEntry entry =
        image(fmt::format("tag-{}", i), fmt::format("2.{}", random() % 4), cpus[random() % cpus.size()]);
    if (random() % 2 == 0) entry = optimised(entry);
    if (random() % 4 == 0) entry = with(entry, "compiler", "inductor");
    if (random() % 2 == 0) entry = measured(entry, 100.0 + static_cast<double>(random() % 3));
    if (random() % 3 == 0) entry = measured(entry, 150.0, "EPYC", "zen2");
    entries.push_back(entry);
  }
  auto order = [&](const std::vector<IndexEntry>& some) {
    Selection selection = select_image(query(), some, host("broadwell"), archspec());
    return explain(selection) + to_json(selection).dump();
  };
  const std::string expected = order(entries);
  for (int round = 0; round < 200; ++round) {
    std::shuffle(entries.begin(), entries.end(), random);
    ASSERT_EQ(order(entries), expected) << "round " << round;
  }
}

TEST(Select, ARetiredImageIsNobodysAnswer) {
  std::vector<IndexEntry> entries = {measured(image("fast"), 100), measured(image("slow"), 200)};
  entries[0].retired = "wrong results on zen4";
  Selection selection = select_image(query(), entries, host("haswell"), archspec());
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(selection.winner->entry->image.tag, "slow");
  EXPECT_NE(explain(selection).find("do not qualify, nearest first:\n"
                                    "  pytorch:fast: retired: wrong results on zen4\n"),
            std::string::npos)
      << explain(selection);
  entries.pop_back();
  EXPECT_EQ(select_image(query(), entries, host("haswell"), archspec()).nearest_miss,
            "pytorch:fast: retired: wrong results on zen4");
}

IndexEntry with_version(IndexEntry entry, double median, const std::string& files, const std::string& taken) {
  entry = measured(entry, median);
  entry.measurements.back().workload_files = files;
  entry.measurements.back().taken = taken;
  return entry;
}

// A step of another version of a workload may be another step.
TEST(Ranking, ComparesOneVersionOfAWorkload) {
  const std::string before = "2026-11-20T10:00:00Z", later = "2026-11-21T10:00:00Z";
  IndexEntry a = with_version(with_version(image("a"), 100, "one", before), 10, "two", later);
  IndexEntry b = with_version(image("b"), 90, "one", before);
  EXPECT_EQ(winner(query(), {a, b}), "b") << "both were measured with the first alone";
  b = with_version(b, 20, "two", before);
  EXPECT_EQ(winner(query(), {a, b}), "a") << "of equals the one that was measured last";
}

}  // namespace
}  // namespace kiln
