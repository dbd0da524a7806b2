// The preferences between machine code, fewer components and CUDA.
#include "registry/select/select.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::on;
using testing::optimised;
using testing::query;
using testing::with;

std::string best_of(const ImageQuery& asked, const std::vector<IndexEntry>& entries,
                    const Host& where = host("haswell")) {
  const Selection selection = select_image(asked, entries, where, archspec());
  return selection.winner ? selection.winner->entry->image.tag : "nothing";
}

IndexEntry with_cuda(IndexEntry entry, const std::string& cuda) {
  entry.image.needs.cuda = Version(cuda);
  return entry;
}

TEST(Ranking, MachineCodeStandsBeforePtxOfAnOptimisedBuild) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  const Host a100 = host("icelake", {"nvidia:sm_80"});
  const IndexEntry stock = on(image("stock"), {"nvidia:sm_80"}),
                   built = on(optimised(image("built")), {"nvidia:sm_75"});
  EXPECT_EQ(best_of(asked, {stock, built}, a100), "stock");
  EXPECT_EQ(best_of(asked, {on(image("older"), {"nvidia:sm_80"}), built}, host("zen4", {"nvidia:sm_86"})),
            "older")
      << "machine code of an older GPU of the generation is some";
  EXPECT_EQ(best_of(asked, {stock, built}, host("icelake", {"nvidia:sm_90"})), "built") << "both by PTX";
  EXPECT_EQ(best_of(asked, {stock, built}, host("icelake", {"nvidia:sm_75"})), "built");
  EXPECT_EQ(best_of(asked, {stock, built}, {}), "built") << "on no host that is known";
  asked.gpu = "sm_80";
  EXPECT_EQ(best_of(asked, {stock, built}, {}), "stock") << "a GPU is named";
  asked.gpu = "";
  IndexEntry found = on(optimised(image("found")), {"nvidia:sm_80"});
  found.image.evidence.gpu = {"sm_70", "compute_70"};
  EXPECT_EQ(best_of(asked, {stock, found}, a100), "stock") << "what was found counts";
}

TEST(Ranking, WhatNobodyAskedForStandsBehind) {
  const IndexEntry plain = image("plain"), mpich = with(image("mpich"), "distributed", "mpich", "4.2"),
                   both = with(mpich, "distributed", "horovod", "0.28");
  for (const bool opt_build : {true, false}) {
    EXPECT_EQ(best_of(query(opt_build), {mpich, plain}), "plain");
    EXPECT_EQ(best_of(query(opt_build), {both, plain}), "plain");
  }
  IndexEntry named = both;
  named.image.tag = "a";
  EXPECT_EQ(best_of(query(), {named, mpich}), "mpich");
  ImageQuery asked = query();
  asked.selectors["distributed_training"] = "true";
  EXPECT_EQ(best_of(asked, {named, mpich, plain}), "a") << "it is asked for, and the name decides";
  asked.selectors = {{"library", "mpich"}};
  EXPECT_EQ(best_of(asked, {named, mpich}), "mpich");
  EXPECT_EQ(best_of(query(), {with(image("a"), "base", "debian"), plain}), "a");
  IndexEntry fast = with(image("a"), "library", "openblas");
  EXPECT_EQ(best_of(query(), {fast, plain}), "plain");
  fast.image.components.back().optimised = true;
  EXPECT_EQ(best_of(query(), {fast, plain}), "a") << "part of an optimised build, which is asked for";
  EXPECT_EQ(best_of(query(), {with(image("a", "2.7"), "distributed", "mpich"), plain}), "a") << "newer";
  IndexEntry runtimes = with(with(image("b"), "runtime", "x"), "runtime", "y");
  runtimes.image.components.back().role = "allocator";
  EXPECT_EQ(best_of(query(), {runtimes, plain}), "plain");
  for (const auto& [choice, value] :
       std::map<std::string, std::string>{{"runtime", "true"}, {"both", "y+x"}}) {
    asked = query();
    asked.selectors = {{choice, value}};
    EXPECT_EQ(best_of(asked, {runtimes,
                              with(with(with(image("a"), "runtime", "x"), "runtime", "y"), "library", "z")}),
              "b")
        << choice;
  }
  asked.selectors = {{"allocator", "true"}, {"x", "true"}};
  EXPECT_EQ(best_of(asked, {runtimes}), "b");
}

TEST(Ranking, InATieTheNewerCuda) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  const IndexEntry old = with_cuda(on(image("cu118"), {"nvidia:sm_90"}), "11.8"),
                   newer = with_cuda(on(image("cu126"), {"nvidia:sm_90"}), "12.6"),
                   newest = with_cuda(on(image("cu128"), {"nvidia:sm_90"}), "12.8"),
                   unknown = on(image("a"), {"nvidia:sm_90"});
  Host h100 = host("zen4", {"nvidia:sm_90"});
  h100.description.driver = "570.26";
  EXPECT_EQ(best_of(asked, {old, newer, newest, unknown}, h100), "cu128");
  h100.description.driver = "520.61.05";
  EXPECT_EQ(best_of(asked, {old, newer, newest}, h100), "cu118") << "the driver runs no other";
  h100.description.driver = "";
  EXPECT_EQ(best_of(asked, {old, newer, newest}, h100), "cu128");
  EXPECT_EQ(best_of(asked, {old, newer, newest}, {}), "cu118") << "no host: the one that most drivers run";
  EXPECT_EQ(best_of(asked, {newer, newest}, {}), "cu128") << "as many drivers run both";
}

TEST(Explain, NamesComponentsAndCuda) {
  auto last_reason = [](const std::vector<IndexEntry>& entries) {
    return select_image(query(), entries, {}, archspec()).reasons.back();
  };
  auto behind = [](const std::vector<IndexEntry>& entries) {
    return select_image(query(), entries, {}, archspec()).others.at(0).behind;
  };
  const IndexEntry mpich = with(image("b"), "distributed", "mpich");
  EXPECT_EQ(last_reason({image("a"), mpich}), "pytorch:b has mpich, which is not asked for");
  EXPECT_EQ(last_reason({image("a"), with(mpich, "distributed", "horovod")}),
            "pytorch:b has mpich, horovod, which are not asked for");
  EXPECT_EQ(last_reason({with_cuda(image("a"), "12.8"), with_cuda(image("b"), "12.6")}),
            "made with CUDA 12.8; pytorch:b with CUDA 12.6");
  EXPECT_EQ(last_reason({with_cuda(image("a"), "12.8"), image("b")}),
            "made with CUDA 12.8; pytorch:b with an unknown CUDA");
  EXPECT_EQ(behind({image("a"), mpich}), "has mpich, which is not asked for");
  EXPECT_EQ(behind({with_cuda(image("a"), "12.8"), with_cuda(image("b"), "12.6")}), "made with CUDA 12.6");
  EXPECT_EQ(behind({with_cuda(image("a"), "12.8"), image("b")}), "made with an unknown CUDA");
}

TEST(Explain, NamesPtx) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  const IndexEntry stock = on(image("stock"), {"nvidia:sm_80"}),
                   built = on(optimised(image("built")), {"nvidia:sm_75"});
  auto reasons = [&](const std::vector<IndexEntry>& entries) {
    return select_image(asked, entries, host("icelake", {"nvidia:sm_80"}), archspec()).reasons;
  };
  EXPECT_EQ(reasons({stock, built}).at(0), "built for x86_64_v3,nvidia:sm_80; host icelake runs it");
  EXPECT_EQ(reasons({stock, built}).back(),
            "has code for this GPU; pytorch:built has PTX, which the driver compiles");
  EXPECT_EQ(
      select_image(asked, {stock, built}, host("icelake", {"nvidia:sm_80"}), archspec()).others.at(0).behind,
      "has PTX, which the driver compiles");
  EXPECT_EQ(
      reasons({built}).at(0),
      "built for x86_64_v3,nvidia:sm_75; host icelake runs it, the GPU by PTX, which the driver compiles");
}

}  // namespace
}  // namespace kiln
