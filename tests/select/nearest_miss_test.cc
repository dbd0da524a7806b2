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

}  // namespace
}  // namespace kiln
