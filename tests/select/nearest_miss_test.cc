// Which image that does not qualify is named.
#include "registry/select/select.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::on;
using testing::query;
using testing::with;

std::string nearest(const ImageQuery& asked, const std::vector<IndexEntry>& entries, const Host& where) {
  return select_image(asked, entries, where, archspec()).nearest_miss;
}

TEST(Select, TheNearestMissIsTheOneToActOn) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  Host a100 = host("icelake", {"nvidia:sm_80"});
  a100.description.driver = "470.82.01";
  IndexEntry gpu = on(image("gpu"), {"nvidia:sm_80"});
  gpu.image.needs.driver = Version("525.60.13");
  EXPECT_EQ(nearest(asked, {image("cpu"), gpu}, a100),
            "pytorch:gpu: needs NVIDIA's driver 525.60.13; host has 470.82.01");
  gpu.image.version = Version("2.5");
  asked.version = VersionRange::parse("2.6");
  EXPECT_EQ(nearest(asked, {image("cpu"), gpu}, a100),
            "pytorch:cpu: asks for nvidia; built for no accelerator")
      << "another driver is not enough for the other";
  asked.version = {};
  asked.acc_type = "amd";
  EXPECT_EQ(nearest(asked, {image("cpu"), on(image("rocm"), {"amd:gfx90a"})}, host("zen4", {"amd:gfx942"})),
            "pytorch:rocm: needs amd:gfx90a; host has amd:gfx942");
}

TEST(Select, WhatFailsOneClauseIsNearerThanWhatFailsSeveral) {
  ImageQuery asked = query();
  asked.version = VersionRange::parse("2.6");
  asked.method = "pip";
  IndexEntry pip = image("pip", "2.6.0", "x86_64_v4"), other = image("other", "2.5");
  pip.image.method = "pip";
  EXPECT_EQ(nearest(asked, {other, pip}, host("haswell")),
            "pytorch:pip: needs avx512f; host haswell lacks it");
  IndexEntry retired = pip;
  retired.image.cpu = "x86_64_v3";
  retired.image.tag = "retired";
  retired.retired = "wrong";
  EXPECT_EQ(nearest(asked, {other, pip, retired}, host("haswell")), "pytorch:retired: retired: wrong");
}

TEST(Select, AStockCompilerNeedsNoAsking) {
  ImageQuery asked = query();
  const std::vector<IndexEntry> entries = {with(image("a"), "compiler", "xla")};
  EXPECT_EQ(nearest(asked, entries, host("haswell")), "pytorch:a: has xla, which is not asked for");
  asked.stock_compilers = {"xla"};
  EXPECT_EQ(nearest(asked, entries, host("haswell")), "") << "it qualifies";
  asked.compilers["xla"] = true;
  EXPECT_EQ(nearest(asked, entries, host("haswell")), "") << "it qualifies";
  asked.compilers["xla"] = false;
  EXPECT_EQ(nearest(asked, entries, host("haswell")), "pytorch:a: asks for no xla; this has it");
  asked.compilers = {};
  EXPECT_EQ(nearest(asked, {with(entries[0], "compiler", "tvm")}, host("haswell")),
            "pytorch:a: has tvm, which is not asked for");
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
  EXPECT_EQ(selection.others.at(1).clauses_met, 11) << "all about the host, and the accelerators";
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
