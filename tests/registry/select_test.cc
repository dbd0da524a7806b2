#include "registry/select.h"

#include <random>

#include "select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::measured;
using testing::on;
using testing::optimised;
using testing::query;
using testing::Strings;
using testing::with;

std::string winner(const ImageQuery& asked, const std::vector<IndexEntry>& entries, const Host& where = {}) {
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
  EXPECT_EQ(winner(query(), entries, host("broadwell", {}, "Xeon C")), "a") << "one runs the other";
  EXPECT_EQ(winner(query(), entries, host("zen3", {}, "EPYC 3")), "b");
  EXPECT_EQ(winner(query(), entries, host("zen2", {}, "EPYC")), "b");
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
  Selection selection = select_image(asked, entries, {}, archspec());
  EXPECT_EQ(selection.winner->measured, nullptr);
}

TEST(Ranking, TheLatestMeasurementCounts) {
  IndexEntry a = measured(measured(image("a"), 50), 300);
  a.measurements[1].taken = "2026-12-01T00:00:00Z";
  EXPECT_EQ(winner(query(), {a, measured(image("b"), 100)}), "b");
}

TEST(Ranking, WithoutMeasurements) {
  EXPECT_EQ(winner(query(true), {image("stock", "2.7"), optimised(image("optimised"))}), "optimised");
  EXPECT_EQ(winner(query(), {image("a", "2.7", "x86_64_v2"), image("b", "2.6", "x86_64_v3")}), "b")
      << "the most specific target";
  EXPECT_EQ(winner(query(), {image("a", "2.9"), image("b", "2.10")}), "b") << "the newest";
  EXPECT_EQ(winner(query(), {image("b"), image("a")}), "a") << "by name";
}

TEST(Ranking, SpeedsOfDifferentUnitsDoNotCompare) {
  IndexEntry slow = measured(measured(image("a"), 9, "Xeon A", "haswell", "w"), 300);
  IndexEntry fast = measured(image("b"), 200);
  slow.measurements[0].unit = "images/s";
  EXPECT_EQ(winner(query(), {slow, fast}), "b");
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

IndexEntry mapped(const std::string& code, testing::Strings accelerators = {}) {
  IndexEntry entry = on(image(code), std::move(accelerators));
  entry.image.manifest = {};
  entry.image.code = code;
  entry.image.reference = "docker://example/pytorch";
  return entry;
}

TEST(Ranking, WithoutAnAcceleratorAskedForTheFewerTheBetter) {
  IndexEntry gpu = mapped("a", {"nvidia"});
  IndexEntry plain = mapped("b");
  EXPECT_EQ(winner(query(false), {gpu, plain}), "b");
  Selection selection = select_image(query(false), {gpu, plain}, {}, archspec());
  EXPECT_EQ(selection.reasons.back(), "needs fewer accelerators than docker://example/pytorch");
}

TEST(Ranking, ANamedGpuIsMoreSpecificThanAnyOfItsVendor) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  std::vector<IndexEntry> entries = {on(image("a"), {"nvidia"}), on(image("b"), {"nvidia:sm_80"})};
  EXPECT_EQ(winner(asked, entries), "b");
  entries[0] = on(image("a"), {"nvidia:sm_80", "nvidia:sm_90"});
  EXPECT_EQ(winner(asked, entries), "a") << "two are not more specific than one";
  entries[1] = on(image("b", "2.6.0", "x86_64_v2"), {"nvidia:sm_80"});
  entries[0] = on(image("a", "2.6.0", "x86_64_v3"), {"nvidia"});
  EXPECT_EQ(winner(asked, entries), "a") << "a level of the processor is worth as much as a named GPU";
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

TEST(Explain, SaysWhyWithNumbers) {
  std::vector<IndexEntry> entries = {
      measured(image("stock"), 303),
      measured(optimised(with(image("openblas"), "library", "openblas")), 185),
      measured(optimised(image("blis")), 200),
      with(image("inductor"), "compiler", "inductor"),
      image("avx512", "2.6.0", "skylake_avx512"),
      optimised(image("new")),
  };
  entries[1].stale = true;
  Selection selection = select_image(query(), entries, host("haswell"), archspec());
  EXPECT_EQ(explain(selection),
            "pytorch:openblas\n"
            "  built for x86_64_v3; host haswell runs it\n"
            "  has every choice: pytorch 2.6.0, optimised build\n"
            "  measured 185.0 ms/step, quartiles 184.0 to 187.0 (mnist-cnn, Xeon A, 2 cores): 1.08 times as "
            "fast as pytorch:blis, 1.64 "
            "times as fast as pytorch:stock\n"
            "  stale: its last rebuild failed, an earlier image stands in\n"
            "also qualify, best first:\n"
            "  pytorch:blis: 200.0 ms/step, quartiles 199.0 to 202.0\n"
            "  pytorch:stock: 303.0 ms/step, quartiles 302.0 to 305.0\n"
            "  pytorch:new: not measured\n"
            "do not qualify, nearest first:\n"
            "  pytorch:inductor: has inductor, which is not asked for\n"
            "  pytorch:avx512: needs avx512f; host haswell lacks it\n");
  Json json = to_json(selection);
  EXPECT_EQ(json["selected"]["name"], "pytorch:openblas");
  EXPECT_EQ(json["selected"]["measurement"]["median"], 185);
  EXPECT_EQ(json["reasons"].size(), 4u);
  EXPECT_EQ(json["others"][4]["failed"], "needs avx512f; host haswell lacks it");
  EXPECT_EQ(json["others"][0]["qualifies"], true);
}

TEST(Explain, SaysWhatIsDoubtfulInAMeasurement) {
  std::vector<IndexEntry> entries = {measured(image("a"), 100), measured(image("b"), 200)};
  entries[0].measurements[0].high = 130;
  entries[1].measurements[0].busy = 1.5;
  const std::string text = explain(select_image(query(), entries, host("haswell"), archspec()));
  EXPECT_NE(
      text.find("measured 100.0 ms/step, quartiles 99.0 to 130.0; doubtful: quartiles 31 % apart (mnist-cnn"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("pytorch:b: 200.0 ms/step, quartiles 199.0 to 202.0; doubtful: 1.5 of 2 processors busy "
                "with other work\n"),
      std::string::npos)
      << text;
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

TEST(Explain, NamesTheDifferenceThatDecided) {
  auto last_reason = [](const std::vector<IndexEntry>& entries, const Host& where = {}) {
    return select_image(query(), entries, where, archspec()).reasons.back();
  };
  EXPECT_EQ(last_reason({image("a")}), "the only image that qualifies");
  EXPECT_EQ(last_reason({measured(image("a"), 100), image("b")}), "pytorch:b is not measured");
  EXPECT_EQ(
      last_reason({measured(image("a"), 100), measured(image("b"), 50, "EPYC", "zen2")}, host("haswell")),
      "pytorch:b is measured on a host less like this one only");
  EXPECT_EQ(last_reason({optimised(image("a")), image("b")}),
            "an optimised build, which is asked for; pytorch:b is not");
  EXPECT_EQ(last_reason({image("a"), image("b", "2.6.0", "x86_64_v2")}),
            "built for x86_64_v3, more specific than x86_64_v2 of pytorch:b");
  EXPECT_EQ(last_reason({image("a", "2.10"), image("b", "2.9")}),
            "version 2.10 is newer than 2.9 of pytorch:b");
  EXPECT_EQ(last_reason({image("a"), image("b")}), "equal to pytorch:b, and first by name");
  EXPECT_EQ(last_reason({measured(image("a"), 100), measured(image("b"), 100)}),
            "equal to pytorch:b, and first by name");
}

TEST(Explain, NamesTheHostThatWasMeasured) {
  IndexEntry a = measured(image("a"), 100);
  auto reason = [&] { return select_image(query(), {a}, {}, archspec()).reasons.at(2); };
  EXPECT_EQ(reason(), "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores)");
  a.measurements[0].host.model = "";
  a.measurements[0].host.cores = 1;
  EXPECT_EQ(reason(), "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, haswell, 1 core)");
  a.measurements[0].host = {};
  EXPECT_EQ(reason(), "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn)");
}

TEST(Explain, ComparesWithTheNextAndTheBestStockImage) {
  auto reason = [](const std::vector<IndexEntry>& entries) {
    return select_image(query(), entries, host("haswell"), archspec()).reasons.at(2);
  };
  IndexEntry best = measured(optimised(image("a")), 100);
  EXPECT_EQ(
      reason({best, measured(image("b"), 100)}),
      "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): as fast as pytorch:b");
  EXPECT_EQ(reason({best, measured(image("b"), 150), measured(image("c"), 200)}),
            "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): 1.50 times as "
            "fast as pytorch:b")
      << "the next is the best stock image";
  EXPECT_EQ(reason({best, measured(optimised(image("b")), 150), measured(optimised(image("c")), 160),
                    measured(image("d"), 200), measured(image("e"), 300)}),
            "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): 1.50 times as "
            "fast as pytorch:b, 2.00 "
            "times as fast as pytorch:d");
  EXPECT_EQ(
      reason({measured(image("a"), 100), measured(optimised(image("b")), 150), measured(image("c"), 160)}),
      "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): 1.50 times as fast as "
      "pytorch:b")
      << "a stock image won";
  EXPECT_EQ(reason({best, measured(optimised(image("b")), 150), measured(image("c"), 200, "EPYC", "zen2")}),
            "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): 1.50 times as "
            "fast as pytorch:b")
      << "another host's times do not compare";
}

TEST(Explain, NamesTargetAndChoices) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  asked.compilers["inductor"] = true;
  IndexEntry entry = on(with(image("a"), "compiler", "inductor"), {"nvidia:sm_80", "nvidia:sm_90"});
  auto reasons = [&](const Host& where) { return select_image(asked, {entry}, where, archspec()).reasons; };
  EXPECT_EQ(reasons({}).at(0), "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons({}).at(1), "has every choice: pytorch 2.6.0, stock image, inductor");
  EXPECT_EQ(reasons(host("", {"nvidia"})).at(0), "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons(host("haswell", {"nvidia"})).at(0),
            "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90; host haswell runs it");
  entry.image.cpu = "";
  entry.image.version = Version();
  EXPECT_EQ(reasons({}).at(0), "built for any processor,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons({}).at(1), "has every choice: pytorch, stock image, inductor");
}

TEST(Explain, AMappingIsKnownByReferenceAndCode) {
  const std::vector<IndexEntry> entries = {mapped("m"), image("own", "2.5")};
  Selection selection = select_image(query(false), entries, {}, archspec());
  Json json = to_json(selection);
  EXPECT_EQ(json["selected"]["reference"], "docker://example/pytorch");
  EXPECT_EQ(json["selected"]["code"], "m");
  EXPECT_FALSE(json["selected"].contains("manifest"));
  EXPECT_FALSE(json["selected"].contains("measurement"));
  EXPECT_EQ(json["others"][0]["manifest"], Digest::of("own").text());
  EXPECT_FALSE(json["others"][0].contains("reference"));
  EXPECT_FALSE(json["others"][0].contains("failed"));
  EXPECT_FALSE(json.contains("nearest_miss"));
}

TEST(Explain, MissesOfEqualStandingAreSortedByName) {
  ImageQuery asked = query();
  asked.application = "jax";
  const std::vector<IndexEntry> entries = {image("b"), image("a"), image("c")};
  Selection selection = select_image(asked, entries, {}, archspec());
  EXPECT_EQ(selection.nearest_miss, "pytorch:a: asks for jax; this is pytorch");
  EXPECT_EQ(selection.others.at(2).entry->image.tag, "c");
}

TEST(Explain, TheNearestMissIsOfTheApplication) {
  IndexEntry other = image("other");
  other.image.application = "tensorflow";
  Selection selection =
      select_image(query(), {other, image("wanted", "2.6.0", "skylake_avx512")}, host("haswell"), archspec());
  EXPECT_EQ(selection.nearest_miss, "pytorch:wanted: needs avx512f; host haswell lacks it");
  EXPECT_EQ(selection.others.at(1).clauses_met, 3);
}

TEST(Explain, WithoutAMatchTheNearestMiss) {
  ImageQuery asked = query();
  asked.version = VersionRange::parse("2.1");
  asked.compilers["inductor"] = true;
  std::vector<IndexEntry> entries = {image("old", "2.10.0"), image("right", "2.1.0"),
                                     image("far", "2.1", "neoverse_n1")};
  Selection selection = select_image(asked, entries, host("haswell"), archspec());
  EXPECT_FALSE(selection.winner);
  EXPECT_EQ(selection.nearest_miss, "pytorch:right: asks for inductor; this is without");
  EXPECT_EQ(explain(selection),
            "no image matches\n"
            "  nearest miss: pytorch:right: asks for inductor; this is without\n"
            "do not qualify, nearest first:\n"
            "  pytorch:right: asks for inductor; this is without\n"
            "  pytorch:old: asks for 2.1; this is 2.10.0\n"
            "  pytorch:far: built for aarch64; host is x86_64\n");
  Json json = to_json(selection);
  EXPECT_TRUE(json["selected"].is_null());
  EXPECT_EQ(json["nearest_miss"], selection.nearest_miss);
  EXPECT_EQ(explain(select_image(asked, {}, {}, archspec())), "no image matches\n");
}

}  // namespace
}  // namespace kiln
