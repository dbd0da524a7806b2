#include <gtest/gtest.h>

#include "factory/base/effects.h"
#include "registry/select/demand.h"

namespace kiln {
namespace {

Demand asked(const std::string& question, const std::string& host = "") {
  Demand demand;
  demand.question = question;
  demand.host = host;
  return demand;
}

// What demand_of() writes of a question is read back as that question.
TEST(DemandQuery, ReadsBackWhatIsCounted) {
  ImageQuery query;
  query.application = "tensorflow";
  query.version = VersionRange::parse("2.1");
  query.opt_build = true;
  query.compilers = {{"xla", true}, {"ngraph", false}};
  query.selectors = {{"library", "openmpi"}};
  query.cpu_type = "x86";
  query.acc_type = "nvidia";
  query.cpu = "zen3";
  query.gpu = "sm_80";
  query.method = "pip";
  const Microarchitectures cpus =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  const Demand demand = demand_of(query, {}, {}, cpus, "");
  const auto read = query_of(demand, {"xla", "ngraph"});
  ASSERT_TRUE(read) << demand.question;
  EXPECT_EQ(read->application, "tensorflow");
  EXPECT_EQ(read->version.text(), "2.1");
  EXPECT_EQ(read->opt_build, true);
  EXPECT_EQ(read->compilers, query.compilers);
  EXPECT_EQ(read->selectors, query.selectors);
  EXPECT_EQ(read->cpu_type, "x86");
  EXPECT_EQ(read->acc_type, "nvidia");
  EXPECT_EQ(read->cpu, "zen3");
  EXPECT_EQ(read->gpu, "sm_80");
  EXPECT_EQ(read->method, "pip");
}

TEST(DemandQuery, AStockImageOfAnyVersion) {
  const auto read = query_of(asked("pytorch, stock"), {});
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->version.is_any());
  EXPECT_EQ(read->opt_build, false);
}

TEST(DemandQuery, AWordThatMayBeTwoThingsIsLeftOut) {
  const auto read = query_of(asked("pytorch, optimised, amd"), {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cpu_type + read->acc_type + read->cpu, "");
}

TEST(DemandQuery, WhatIsNoQuestionIsNone) {
  EXPECT_FALSE(query_of(asked(""), {}));
  EXPECT_FALSE(query_of(asked("pytorch >=>1, stock"), {}));
  EXPECT_FALSE(query_of(asked(", stock"), {}));
}

TEST(DemandQuery, KnowsTheHostThatAsked) {
  const Host host = host_of(asked("pytorch", "zen4,nvidia:sm_90,nvidia:sm_80"));
  EXPECT_TRUE(host.known);
  EXPECT_EQ(host.description.cpu, "zen4");
  EXPECT_EQ(host.description.accelerators, (std::vector<std::string>{"nvidia:sm_90", "nvidia:sm_80"}));
  EXPECT_FALSE(host_of(asked("pytorch")).known);
}

}  // namespace
}  // namespace kiln
