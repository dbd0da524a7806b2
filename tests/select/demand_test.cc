#include "registry/select/demand.h"

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "select/select_samples.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::on;
using testing::optimised;
using testing::query;

Demand asked(const ImageQuery& question, const std::vector<IndexEntry>& entries, const Host& where = {}) {
  const Selection selection = select_image(question, entries, where, archspec());
  return demand_of(question, where, selection, archspec(), "2026-11-23");
}

TEST(Demand, SaysHowWellItWasAnswered) {
  ImageQuery question = query();
  question.version = VersionRange::parse("2.6");
  question.compilers["inductor"] = true;
  Demand missed = asked(question, {image("a")}, host("haswell"));
  EXPECT_EQ(missed.question, "pytorch 2.6, optimised, inductor");
  EXPECT_EQ(missed.host, "haswell");
  EXPECT_EQ(name_of(missed.outcome), "missed");
  EXPECT_EQ(missed.why, "asks for inductor; this is without");
  EXPECT_EQ(asked(question, {}).why, "no image of it");
  Demand stock = asked(query(), {image("a", "2.6.0", "haswell")}, host("haswell"));
  EXPECT_EQ(name_of(stock.outcome), "second best");
  EXPECT_EQ(stock.why, "a stock image");
  EXPECT_EQ(asked(query(), {optimised(image("a"))}, host("haswell")).why, "built for x86_64_v3");
  EXPECT_EQ(name_of(asked(query(), {optimised(image("a", "2.6.0", "haswell"))}, host("haswell")).outcome),
            "answered");
  EXPECT_EQ(name_of(asked(query(false), {image("a")}, host("haswell")).outcome), "answered")
      << "a stock image is for many processors";
  ImageQuery gpu = query();
  gpu.acc_type = "nvidia";
  EXPECT_EQ(asked(gpu, {on(optimised(image("a", "2.6.0", "haswell")), {"nvidia:sm_61"})},
                  host("haswell", {"nvidia:sm_90"}))
                .why,
            "GPU code for nvidia:sm_61");
}

TEST(Demand, EqualQuestionsAreOne) {
  Demand one = asked(query(), {});
  Demand later = one;
  later.last = "2026-11-24";
  Demand other = asked(query(false), {});
  std::vector<Demand> sums = sum_of_demand(demand_line(other) + demand_line(one) + "{\"question\": \"cut" +
                                           "\n" + demand_line(later));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].count, 2u);
  EXPECT_EQ(sums[0].last, "2026-11-24");
  EXPECT_EQ(sums[1].question, "pytorch, stock");
}

TEST(Demand, AQuestionThatIsTooLongIsNotKept) {
  ImageQuery question = query();
  question.selectors["backend"] = std::string(2000, 'x');
  EXPECT_EQ(demand_line(asked(question, {})), "");
}

TEST(DemandFile, CountsWhatManyAskAtOnce) {
  const testing::TemporaryFolder state;
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::atomic<int> kept = 0;
  std::vector<std::jthread> askers;
  for (int i = 0; i < kThreads; ++i)
    askers.emplace_back([&] {
      for (int j = 0; j < kEach; ++j) kept += record_demand(state.path(), asked(query(), {})) ? 1 : 0;
    });
  askers.clear();
  std::vector<Demand> sums = read_demand(state.path());
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].count, static_cast<std::uint64_t>(kept.load()));
}

TEST(DemandFile, IsSummedUpWhenItHasGrown) {
  const testing::TemporaryFolder state;
  Demand one = asked(query(), {});
  {
    std::ofstream file(state.path() / "demand.jsonl");
    for (int i = 0; i < 60'000; ++i) file << demand_line(one);
  }
  ASSERT_TRUE(record_demand(state.path(), one));
  EXPECT_LT(std::filesystem::file_size(state.path() / "demand.jsonl"), 1000u);
  ASSERT_EQ(read_demand(state.path()).size(), 1u);
  EXPECT_EQ(read_demand(state.path())[0].count, 60'001u);
}

TEST(DemandFile, WhatCannotBeWrittenIsNotCounted) {
  EXPECT_FALSE(record_demand("/proc/no-such-folder", asked(query(), {})));
  const testing::TemporaryFolder state;
  std::filesystem::create_symlink("/dev/full", state.path() / "demand.jsonl");
  EXPECT_FALSE(record_demand(state.path(), asked(query(), {}))) << "a link is nobody's counter";
  EXPECT_TRUE(read_demand(state.path() / "empty").empty());
  const testing::TemporaryFolder piped;
  ASSERT_EQ(::mkfifo((piped.path() / "demand.jsonl").c_str(), 0600), 0);
  EXPECT_FALSE(record_demand(piped.path(), asked(query(), {}))) << "and nobody waits for its reader";
}

}  // namespace
}  // namespace kiln
