// What people read of a choice.
#include <fmt/format.h>

#include "registry/select/select.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::in_turns;
using testing::mapped;
using testing::measured;
using testing::on;
using testing::optimised;
using testing::query;
using testing::with;

TEST(Explain, SaysWhyWithNumbers) {
  std::vector<IndexEntry> entries = in_turns({
      measured(image("stock"), 303),
      measured(optimised(with(image("openblas"), "library", "openblas")), 185),
      measured(optimised(image("blis")), 200),
      with(image("inductor"), "compiler", "inductor"),
      image("avx512", "2.6.0", "skylake_avx512"),
      optimised(image("new")),
  });
  entries[1].stale = true;
  Selection selection = select_image(query(), entries, host("haswell"), archspec());
  EXPECT_EQ(
      explain(selection),
      "pytorch:openblas\n"
      "  built for x86_64_v3; host haswell runs it\n"
      "  has every choice: pytorch, optimised build\n"
      "  measured 185.0 ms/step, quartiles 184.0 to 187.0 (mnist-cnn, Xeon A, 2 cores): no difference to "
      "pytorch:blis (0.98 to 1.19), 1.64 times as fast as pytorch:stock (1.49 to 1.80)\n"
      "  stale: its last rebuild failed, and an earlier image replaces it\n"
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
  EXPECT_EQ(json["others"][0]["gain_of_selected"]["different"], false);
  EXPECT_NEAR(json["others"][1]["gain_of_selected"]["ratio"].get<double>(), 303.0 / 185, 1e-9);
  EXPECT_FALSE(json["others"][2].contains("gain_of_selected")) << "it was not measured";
  EXPECT_FALSE(json["selected"]["measurement"].contains("gains"));
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

// 60 images: one that wins, 9 that qualify as well, 30 of the wrong version, 20 with a compiler too many.
std::vector<IndexEntry> sixty_images() {
  std::vector<IndexEntry> entries;
  for (int i = 0; i < 10; ++i) entries.push_back(image(fmt::format("good-{}", i)));
  for (int i = 0; i < 30; ++i) entries.push_back(image(fmt::format("old-{}", i), "1.4"));
  for (int i = 0; i < 20; ++i) entries.push_back(with(image(fmt::format("xla-{}", i)), "compiler", "xla"));
  return entries;
}

Selection selection_of(const std::vector<IndexEntry>& entries) {
  ImageQuery asked = query();
  asked.version = VersionRange::parse("2.6.0");
  return select_image(asked, entries, {}, archspec());
}

// Only choices that the question makes are called choices.
TEST(Explain, NamesNoChoiceThatTheQuestionDoesNotMake) {
  auto choices = [](const ImageQuery& asked, const IndexEntry& entry) {
    return select_image(asked, {entry}, {}, archspec()).reasons.at(1);
  };
  EXPECT_EQ(choices(query(std::nullopt), image("a")), "is pytorch 2.6.0, stock image");
  EXPECT_EQ(choices(query(false), image("a")), "has every choice: pytorch, stock image");
  EXPECT_EQ(choices(query(true), optimised(image("a"))), "has every choice: pytorch, optimised build");
  EXPECT_EQ(choices(query(true), image("a")), "has every choice but an optimised build: pytorch");
  ImageQuery asked = query(true);
  asked.version = VersionRange::parse(">=2");
  asked.method = "distro";
  asked.compilers = {{"inductor", true}, {"glow", false}};
  EXPECT_EQ(choices(asked, optimised(with(image("a"), "compiler", "inductor"))),
            "has every choice: pytorch 2.6.0, optimised build, no glow, inductor, by distro");
  asked = query(true);
  asked.version = VersionRange::parse("3.1");
  asked.selectors["library"] = "mpich";
  EXPECT_EQ(choices(asked, optimised(with(image("a"), "distributed", "mpich", "3.1.4"))),
            "has every choice: pytorch, optimised build, library mpich, version 3.1");
}

TEST(Explain, OthersSayWhyTheyStandAfterTheWinner) {
  auto behind = [](const ImageQuery& asked, const std::vector<IndexEntry>& entries, const Host& where = {}) {
    const Selection selection = select_image(asked, entries, where, archspec());
    const std::string text = explain(selection);
    const std::string heading = "also qualify, best first:\n  ";
    const std::size_t at = text.find(heading);
    return at == std::string::npos
               ? text
               : text.substr(at + heading.size(), text.find('\n', at + heading.size()) - at - heading.size());
  };
  const Host here = host("haswell");
  EXPECT_EQ(behind(query(), {image("a", "2.10"), image("b", "2.9")}), "pytorch:b: version 2.9 is older");
  EXPECT_EQ(behind(query(), {image("a"), image("b", "2.7rc1")}), "pytorch:b: 2.7rc1 is a pre-release");
  EXPECT_EQ(behind(query(), {optimised(image("a")), image("b")}), "pytorch:b: not an optimised build");
  EXPECT_EQ(behind(query(), {image("a"), image("b", "2.6.0", "x86_64_v2")}, here),
            "pytorch:b: built for x86_64_v2, worse code for this processor");
  EXPECT_EQ(behind(query(), {image("a"), image("b", "2.6.0", "x86_64_v2")}),
            "pytorch:a: built for x86_64_v3, which runs in fewer places");
  EXPECT_EQ(behind(query(), {measured(image("a"), 100), image("b")}, here), "pytorch:b: not measured");
  EXPECT_EQ(behind(query(), {measured(image("a"), 100), measured(image("b"), 200)}, here),
            "pytorch:b: 200.0 ms/step, quartiles 199.0 to 202.0");
  EXPECT_EQ(behind(query(false), {image("a"), on(image("b"), {"nvidia:sm_90"})}),
            "pytorch:b: needs nvidia:sm_90");
  ImageQuery gpu = query();
  gpu.acc_type = "nvidia";
  const Host ada = host("haswell", {"nvidia:sm_89"});
  EXPECT_EQ(behind(gpu, {on(image("a"), {"nvidia:sm_89"}), on(image("b"), {"nvidia:sm_75"})}, ada),
            "pytorch:b: has PTX, which the driver compiles");
  EXPECT_EQ(behind(gpu, {on(image("a"), {"nvidia:sm_86"}), on(image("b"), {"nvidia:sm_80"})}, ada),
            "pytorch:b: its code for an older GPU of this generation is further from this GPU");
  IndexEntry stale = image("b");
  stale.stale = true;
  EXPECT_EQ(behind(query(), {image("a"), stale}), "pytorch:b: is stale");
  EXPECT_EQ(behind(query(), {image("a"), image("b")}), "pytorch:b: equal, and later by name");
}

TEST(Explain, OfManyMissesItCountsTheReasons) {
  const std::vector<IndexEntry> entries = sixty_images();
  const Selection selection = selection_of(entries);
  EXPECT_EQ(explain(selection, 2),
            "pytorch:good-0\n"
            "  built for x86_64_v3\n"
            "  has every choice but an optimised build: pytorch 2.6.0\n"
            "  equal to pytorch:good-1, and first by name\n"
            "also qualify, best first:\n"
            "  pytorch:good-1: equal, and later by name\n"
            "  pytorch:good-2: equal, and later by name\n"
            "  … and 7 more (--limit 0 shows all)\n"
            "why 50 do not qualify, nearest first:\n"
            "  20 images: has xla, which is not asked for\n"
            "  30 images: asks for 2.6.0; this is 1.4\n"
            "do not qualify, nearest first:\n"
            "  pytorch:xla-0: has xla, which is not asked for\n"
            "  pytorch:xla-1: has xla, which is not asked for\n"
            "  … and 48 more (--limit 0 shows all)\n");
  EXPECT_NE(explain(selection, 1)
                .find("  20 images: has xla, which is not asked for\n"
                      "  … and 1 reason more, of 30 images\n"),
            std::string::npos)
      << explain(selection, 1);
  const std::string all = explain(selection);
  EXPECT_EQ(all.find("more"), std::string::npos) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 4 + 1 + 9 + 1 + 2 + 1 + 50);
}

TEST(Explain, JsonHasBoundsAndTotals) {
  const std::vector<IndexEntry> entries = sixty_images();
  const Json json = to_json(selection_of(entries), 3);
  EXPECT_EQ(json["others"].size(), 6u);
  EXPECT_EQ(json["others"][3]["failed"], "has xla, which is not asked for");
  EXPECT_EQ(json["totals"], Json({{"qualify", 10}, {"misses", 50}, {"reasons", 2}}));
  EXPECT_EQ(json["misses_by_reason"][1], Json({{"reason", "asks for 2.6.0; this is 1.4"},
                                               {"count", 30},
                                               {"clauses_met", json["misses_by_reason"][1]["clauses_met"]},
                                               {"nearest", "pytorch:old-0"}}));
  EXPECT_EQ(to_json(selection_of(entries))["others"].size(), 59u);
}

// One demand is one reason, however many ways there are to fail it; of those that met as many clauses the
// most frequent stands first.
TEST(Explain, WhatIsFoundInsteadIsNamedInPart) {
  std::vector<IndexEntry> entries = {image("a", "1.0")};
  auto reasons = [&] {
    const Json json = to_json(selection_of(entries));
    testing::Strings texts;
    for (const Json& reason : json["misses_by_reason"])
      texts.push_back(fmt::format("{}: {}", reason["count"].get<int>(), reason["reason"].get<std::string>()));
    return texts;
  };
  EXPECT_EQ(reasons(), testing::Strings{"1: asks for 2.6.0; this is 1.0"});
  for (int i = 0; i < 3; ++i) entries.push_back(image(fmt::format("b-{}", i), "1.4"));
  EXPECT_EQ(reasons(), testing::Strings{"4: asks for 2.6.0; this is 1.0, 1.4"});
  for (int i = 5; i < 9; ++i) entries.push_back(image(fmt::format("c-{}", i), fmt::format("1.{}", i)));
  EXPECT_EQ(reasons(), testing::Strings{"8: asks for 2.6.0; this is 1.0, 1.4, 1.5 and 3 others"});
  for (int i = 0; i < 9; ++i) entries.push_back(with(image(fmt::format("d-{}", i)), "compiler", "xla"));
  entries.push_back(with(image("e"), "compiler", "tvm"));
  EXPECT_EQ(reasons(),
            (testing::Strings{"9: has xla, which is not asked for", "1: has tvm, which is not asked for",
                              "8: asks for 2.6.0; this is 1.0, 1.4, 1.5 and 3 others"}));
}

TEST(Explain, MappingsOfOneImageAreToldApartByTheirCodes) {
  std::vector<IndexEntry> entries = {image("a", "2.5"), image("b"), image("c")};
  for (IndexEntry& entry : entries) {
    entry.image.code = "code-" + entry.image.tag;
    entry.image.manifest = {};
    entry.image.reference = "docker://example/pytorch";
  }
  const std::string text = explain(select_image(query(false), entries, {}, archspec()));
  EXPECT_EQ(text.substr(0, text.find('\n')), "docker://example/pytorch (code-b)");
  EXPECT_NE(text.find("  docker://example/pytorch (code-a): version 2.5 is older\n"), std::string::npos)
      << text;
  entries.resize(1);
  const std::string alone = explain(select_image(query(false), entries, {}, archspec()));
  EXPECT_EQ(alone.substr(0, alone.find('\n')), "docker://example/pytorch");
}

TEST(Explain, NamesTheDifferenceThatDecided) {
  auto last_reason = [](const std::vector<IndexEntry>& entries, const Host& where = {}) {
    return select_image(query(), entries, where, archspec()).reasons.back();
  };
  EXPECT_EQ(last_reason({image("a")}), "the only image that qualifies");
  const Host here = host("haswell");
  EXPECT_EQ(last_reason({measured(image("a"), 100), measured(image("b"), 50, "EPYC", "zen2")}, here),
            "pytorch:b is not measured where it compares");
  EXPECT_EQ(last_reason({optimised(image("a")), image("b")}),
            "an optimised build, which is asked for; pytorch:b is not");
  EXPECT_EQ(last_reason({image("a"), image("b", "2.6.0", "x86_64_v2")}, here),
            "built for x86_64_v3, better code for this processor than x86_64_v2 of pytorch:b");
  EXPECT_EQ(last_reason({image("a"), image("b", "2.6.0", "x86_64_v2")}),
            "built for x86_64_v2, which runs in more places than x86_64_v3 of pytorch:a");
  EXPECT_EQ(last_reason({image("a"), image("b", "2.7rc1")}),
            "a release; 2.7rc1 of pytorch:b is a pre-release");
  EXPECT_EQ(last_reason({image("a", "2.10"), image("b", "2.9")}),
            "version 2.10 is newer than 2.9 of pytorch:b");
  EXPECT_EQ(last_reason({image("a"), image("b")}), "equal to pytorch:b, and first by name");
  EXPECT_EQ(last_reason({measured(image("a"), 100), measured(image("b"), 100)}),
            "equal to pytorch:b, and first by name");
}

TEST(Explain, NamesTheHostThatWasMeasured) {
  IndexEntry a = measured(image("a"), 100);
  auto reason = [&] { return select_image(query(), {a}, host("haswell"), archspec()).reasons.at(2); };
  EXPECT_EQ(reason(), "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores)");
  a.measurements[0].host.model = "";
  a.measurements[0].host.cores = 1;
  EXPECT_EQ(reason(), "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, haswell, 1 core)");
}

TEST(Explain, ComparesWithTheNextAndTheBestStockImage) {
  const std::string measured_text =
      "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): ";
  auto reason = [&](const std::vector<IndexEntry>& entries) {
    const std::string text = select_image(query(), entries, host("haswell"), archspec()).reasons.at(2);
    EXPECT_TRUE(text.starts_with(measured_text)) << text;
    return text.substr(std::min(text.size(), measured_text.size()));
  };
  const IndexEntry best = measured(optimised(image("a")), 100);
  EXPECT_EQ(reason(in_turns({best, measured(image("b"), 100)})), "no difference to pytorch:b (0.91 to 1.10)");
  EXPECT_EQ(reason(in_turns({best, measured(image("b"), 150), measured(image("c"), 200)})),
            "1.50 times as fast as pytorch:b (1.36 to 1.65)")
      << "the next is the best stock image";
  EXPECT_EQ(reason(in_turns({best, measured(optimised(image("b")), 150), measured(optimised(image("c")), 160),
                             measured(image("d"), 200), measured(image("e"), 300)})),
            "1.50 times as fast as pytorch:b (1.36 to 1.65), 2.00 times as fast as pytorch:d (1.82 to 2.20)");
  EXPECT_EQ(reason(in_turns({measured(image("a"), 100), measured(optimised(image("b")), 150),
                             measured(image("c"), 160)})),
            "1.50 times as fast as pytorch:b (1.36 to 1.65)")
      << "a stock image won";
  EXPECT_EQ(reason(in_turns(
                {best, measured(optimised(image("b")), 150), measured(image("c"), 200, "EPYC", "zen2")})),
            "1.50 times as fast as pytorch:b (1.36 to 1.65)")
      << "another host's times do not compare";
}

// Speeds of two sessions decide where nothing better is known; they are no gain.
TEST(Explain, SaysNoGainOfTwoSessions) {
  std::vector<IndexEntry> entries =
      in_turns({measured(optimised(image("a")), 100), measured(image("b"), 150)});
  entries[1].measurements[0].session = "another evening";
  EXPECT_EQ(select_image(query(), entries, host("haswell"), archspec()).reasons.at(2),
            "measured 100.0 ms/step, quartiles 99.0 to 102.0 (mnist-cnn, Xeon A, 2 cores): not measured in "
            "turns with pytorch:b");
}

TEST(Explain, NamesTargetAndChoices) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  asked.compilers["inductor"] = true;
  IndexEntry entry = on(with(image("a"), "compiler", "inductor"), {"nvidia:sm_80", "nvidia:sm_90"});
  auto reasons = [&](const Host& where) { return select_image(asked, {entry}, where, archspec()).reasons; };
  EXPECT_EQ(reasons({}).at(0), "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons({}).at(1), "has every choice but an optimised build: pytorch, inductor");
  EXPECT_EQ(reasons(host("", {"nvidia"})).at(0), "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons(host("haswell", {"nvidia"})).at(0),
            "built for x86_64_v3,nvidia:sm_80,nvidia:sm_90; host haswell runs it");
  entry.image.cpu = "";
  entry.image.version = Version();
  EXPECT_EQ(reasons({}).at(0), "built for any processor,nvidia:sm_80,nvidia:sm_90");
  EXPECT_EQ(reasons({}).at(1), "has every choice but an optimised build: pytorch, inductor");
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

}  // namespace
}  // namespace kiln
