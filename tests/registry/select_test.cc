#include "registry/select.h"

#include <random>

#include "registry/select_clauses.h"
#include "samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::error_of;
using testing::measurement_of;
using Strings = std::vector<std::string>;

IndexEntry image(const std::string& tag, const std::string& version = "2.6.0",
                 const std::string& cpu = "x86_64_v3") {
  ImageRecord record;
  record.manifest = Digest::of(tag);
  record.repository = "pytorch";
  record.tag = tag;
  record.application = "pytorch";
  record.version = Version(version);
  record.method = "distro";
  record.components = {{"framework", "pytorch", Version(version), "distro", false}};
  record.cpu = cpu;
  return {record, false, {}};
}

IndexEntry optimised(IndexEntry entry) {
  entry.image.optimised = true;
  return entry;
}

IndexEntry with(IndexEntry entry, const std::string& kind, const std::string& name,
                const std::string& version = "1.0") {
  entry.image.components.push_back({kind, name, Version(version), "", false});
  return entry;
}

IndexEntry on(IndexEntry entry, Strings accelerators) {
  entry.image.accelerators = std::move(accelerators);
  return entry;
}

IndexEntry measured(IndexEntry entry, double median, const std::string& model = "Xeon A",
                    const std::string& cpu = "haswell", const std::string& workload = "mnist-cnn") {
  Measurement measurement = measurement_of(entry.image.manifest, median);
  measurement.host.model = model;
  measurement.host.cpu = cpu;
  measurement.workload = workload;
  entry.measurements.push_back(measurement);
  return entry;
}

ImageQuery query(std::optional<bool> opt_build = true) {
  ImageQuery result;
  result.application = "pytorch";
  result.opt_build = opt_build;
  return result;
}

Host host(const std::string& cpu, Strings accelerators = {}, const std::string& model = "Xeon A") {
  Host result;
  result.known = true;
  result.description.cpu = cpu;
  result.description.model = model;
  result.description.cores = 2;
  result.description.accelerators = std::move(accelerators);
  return result;
}

std::string winner(const ImageQuery& asked, const std::vector<IndexEntry>& entries, const Host& where = {}) {
  Selection selection = select_image(asked, entries, where, archspec());
  return selection.winner ? selection.winner->entry->image.tag : "nothing";
}

// The sentence with which the one image is refused; "" when it qualifies.
std::string refusal(const ImageQuery& asked, const IndexEntry& entry, const Host& where = {}) {
  return Judge(asked, where, archspec())(entry.image).failed;
}

TEST(Clauses, FamilyOfTheProcessor) {
  ImageQuery asked = query();
  asked.cpu_type = "arm";
  EXPECT_EQ(refusal(asked, image("a")), "asks for arm; built for x86_64_v3 (x86_64)");
  EXPECT_EQ(refusal(asked, image("a", "1", "neoverse_n1")), "");
  asked.cpu_type = "power";
  EXPECT_EQ(refusal(asked, image("a", "1", "power9le")), "");
  asked.cpu_type = "amd";
  EXPECT_EQ(refusal(asked, image("a", "1", "zen3")), "");
  EXPECT_EQ(refusal(asked, image("a")), "") << "x86_64_v3 is nobody's in particular";
  EXPECT_EQ(refusal(asked, image("a", "1", "broadwell")), "asks for amd; built for broadwell (GenuineIntel)");
  EXPECT_EQ(refusal(query(), image("a", "1", "neoverse_n1"), host("haswell")),
            "built for aarch64; host is x86_64");
  EXPECT_EQ(refusal(query(), image("a", "1", "k1om")), "built for k1om, which archspec does not know");
}

TEST(Clauses, WhatTheHostLacks) {
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512"), host("haswell")),
            "needs avx512f; host haswell lacks it");
  EXPECT_EQ(refusal(query(), image("a", "1", "x86_64_v3"), host("x86_64_v2")),
            "needs avx2; host x86_64_v2 lacks it");
  EXPECT_EQ(refusal(query(), image("a", "1", "haswell"), host("skylake_avx512")), "");
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512")), "") << "nothing is known of the host";
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512"), host("a-new-one")), "") << "nor here";
}

TEST(Clauses, Accelerators) {
  ImageQuery asked = query();
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"})),
            "asks for no accelerator; built for nvidia:sm_80");
  asked.acc_type = "nvidia";
  EXPECT_EQ(refusal(asked, image("a")), "asks for nvidia; built for no accelerator");
  EXPECT_EQ(refusal(asked, on(image("a"), {"amd:gfx90a"})), "asks for nvidia; built for amd:gfx90a");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"})), "");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell")),
            "needs nvidia:sm_80; host has no accelerator");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell", {"nvidia:sm_61"})),
            "needs nvidia:sm_80; host has nvidia:sm_61");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell", {"nvidia"})), "")
      << "which one is not known";
}

TEST(Clauses, GpuCode) {
  EXPECT_TRUE(gpu_runs("sm_86", "sm_80", false)) << "the same major version";
  EXPECT_FALSE(gpu_runs("sm_80", "sm_86", true));
  EXPECT_TRUE(gpu_runs("sm_90", "sm_80", true)) << "by PTX";
  EXPECT_FALSE(gpu_runs("sm_90", "sm_80", false)) << "no PTX of it";
  EXPECT_TRUE(gpu_runs("sm_100", "sm_90", true));
  EXPECT_FALSE(gpu_runs("sm_100", "sm_90a", true)) << "runs on sm_90 only";
  EXPECT_TRUE(gpu_runs("sm_90", "sm_90a", true));
  EXPECT_TRUE(gpu_runs("gfx90a", "gfx90a", true));
  EXPECT_FALSE(gpu_runs("gfx942", "gfx90a", true));
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  asked.gpu = "sm_70";
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_60", "nvidia:sm_90"})),
            "asks for sm_70; built for nvidia:sm_60, nvidia:sm_90");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_60", "nvidia:sm_61"})), "");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia"})), "");
}

TEST(Clauses, ApplicationAndVersion) {
  ImageQuery asked = query();
  asked.application = "tensorflow";
  EXPECT_EQ(refusal(asked, image("a")), "asks for tensorflow; this is pytorch");
  asked.application = "PyTorch";
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.version = VersionRange::parse("2.1");
  EXPECT_EQ(refusal(asked, image("a", "2.10.0")), "asks for 2.1; this is 2.10.0");
  EXPECT_EQ(refusal(asked, image("a", "2.1.3")), "");
  IndexEntry unknown = image("a");
  unknown.image.version = Version();
  EXPECT_EQ(refusal(asked, unknown), "asks for 2.1; the version of this one is not known");
}

TEST(Clauses, ALibrarysVersionIsThatOfTheLibrary) {
  ImageQuery asked = query();
  asked.version = VersionRange::parse("3.1");
  asked.selectors["library"] = "mpich";
  EXPECT_EQ(refusal(asked, with(image("a", "14.4"), "distributed", "mpich", "3.1.4")), "");
  EXPECT_EQ(refusal(asked, with(image("a", "3.1"), "distributed", "mpich", "3.3.1")),
            "asks for mpich 3.1; this is mpich 3.3.1");
  EXPECT_EQ(refusal(asked, image("a", "3.1")), "asks for library mpich; nothing here answers to that");
}

TEST(Clauses, StockAndOptimised) {
  for (auto opt_build : {std::optional<bool>(), std::optional(false)}) {
    EXPECT_EQ(refusal(query(opt_build), optimised(image("a"))),
              "asks for the stock image; this is an optimised build");
    EXPECT_EQ(refusal(query(opt_build), image("a")), "");
  }
  EXPECT_EQ(refusal(query(true), optimised(image("a"))), "");
  EXPECT_EQ(refusal(query(true), image("a")), "") << "measured speed decides";
  IndexEntry mapped = image("a");
  mapped.image.manifest = Digest();
  EXPECT_EQ(refusal(query(true), mapped), "asks for an optimised build; this is mapped as stock");
  mapped.image.accelerators = {"nvidia"};
  EXPECT_EQ(refusal(query(false), mapped), "") << "MODAK looks at the target of optimised builds only";
}

TEST(Clauses, Compilers) {
  IndexEntry inductor = with(image("a"), "compiler", "inductor");
  EXPECT_EQ(refusal(query(), inductor), "has inductor, which is not asked for");
  ImageQuery asked = query();
  asked.compilers["inductor"] = true;
  EXPECT_EQ(refusal(asked, inductor), "");
  EXPECT_EQ(refusal(asked, image("a")), "asks for inductor; this is without");
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "inductor")), "asks for inductor; this is without");
  asked.compilers["inductor"] = false;
  EXPECT_EQ(refusal(asked, inductor), "asks for no inductor; this has it");
  EXPECT_EQ(refusal(asked, image("a")), "");
}

TEST(Clauses, MethodAndFurtherChoices) {
  ImageQuery asked = query();
  asked.method = "source";
  EXPECT_EQ(refusal(asked, image("a")), "asks for method source; this is made by distro");
  asked.method = "distro";
  asked.selectors["backend"] = "openblas";
  EXPECT_EQ(refusal(asked, image("a")), "asks for backend openblas; nothing here answers to that");
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "openblas")), "");
  asked.selectors = {{"cudnn", "7.6"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "cudnn", "7.6.5")), "");
  EXPECT_NE(refusal(asked, with(image("a"), "library", "cudnn", "7.60")), "");
  asked.selectors = {{"horovod", "true"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "horovod")), "");
  asked.selectors = {{"horovod", "false"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "horovod")),
            "asks for horovod false; nothing here answers to that");
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.selectors = {{"distributed_training", "true"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "openmpi")), "");
  EXPECT_NE(refusal(asked, image("a")), "");
  asked.selectors = {{"mpicc", "true"}};
  IndexEntry mapped = image("a");
  mapped.image.selectors = {{"mpicc", "true"}, {"mpifort", "true"}};
  EXPECT_EQ(refusal(asked, mapped), "");
  mapped.image.selectors = {{"mpicc", "false"}};
  EXPECT_EQ(refusal(asked, mapped), "asks for mpicc true; mapped for false");
}

TEST(Clauses, TheTargetAskedFor) {
  ImageQuery asked = query();
  asked.cpu = "haswell";
  EXPECT_EQ(refusal(asked, image("a", "1", "skylake")),
            "asks for a target that haswell runs; built for skylake");
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.cpu = "hasswell";
  Error error = error_of([&] { select_image(asked, {}, {}, archspec()); });
  EXPECT_EQ(error.code(), ExitCode::input);
  EXPECT_EQ(error.format(), "error: archspec knows no microarchitecture 'hasswell'; did you mean 'haswell'?");
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
            "  measured 185.0 ms/step (mnist-cnn, Xeon A, 2 cores): 1.08 times as fast as pytorch:blis, 1.64 "
            "times as fast as pytorch:stock\n"
            "  stale: its last rebuild failed, an earlier image stands in\n"
            "also qualify, best first:\n"
            "  pytorch:blis: 200.0 ms/step\n"
            "  pytorch:stock: 303.0 ms/step\n"
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
