#include "factory/site/slurm_site.h"

#include <gtest/gtest.h>

#include "factory/site/launcher.h"

namespace kiln {
namespace {

using Words = std::vector<std::string>;

LauncherConfig read_cluster(const std::string& slurm, const std::string& more = "") {
  return read_launcher(
      JsonDocument::parse(R"({"launcher": {"slurm": )" + slurm + "}" + more + "}", "site.json").root());
}

const std::string kCluster = R"({
  "arguments": ["--account=ai"],
  "default": {"partition": "build", "microarchitecture": "haswell", "arguments": ["--qos=low"], "cpus": 8,
              "memory": "16GiB", "time": "2h", "most": {"memory": "64GiB"}},
  "partitions": {"zen4": {"partition": "genoa", "cpus": 4},
                 "nvidia:sm_90": {"partition": "gpu", "arguments": ["--gres=gpu:1"], "most": {"time": "1d"}}},
  "poll": "2s", "patience": "10m"})";

TEST(SlurmSite, IsReadAndAPartitionTakesFromTheDefaultWhatItDoesNotSay) {
  const SlurmSite site = *read_cluster(kCluster).slurm;
  EXPECT_EQ(site.poll.count(), 2);
  EXPECT_EQ(site.patience.count(), 600);
  EXPECT_EQ(site.standard.usual.memory, 16ull << 30);
  EXPECT_EQ(site.standard.usual.time.count(), 7200);
  const SlurmPlace& zen4 = site.partitions.at("zen4");
  EXPECT_EQ(zen4.partition, "genoa");
  EXPECT_EQ(zen4.microarchitecture, "zen4");
  EXPECT_EQ(zen4.usual.cpus, 4);
  EXPECT_EQ(zen4.usual.memory, 16ull << 30);
  EXPECT_EQ(zen4.most.memory, 64ull << 30);
  EXPECT_EQ(zen4.arguments, Words{});
  const SlurmPlace& gpu = site.partitions.at("nvidia:sm_90");
  EXPECT_EQ(gpu.microarchitecture, "");
  EXPECT_EQ(gpu.most.memory, 64ull << 30);
  EXPECT_EQ(gpu.most.time.count(), 86400);
  EXPECT_EQ(place_words(site, gpu), (Words{"--partition=gpu", "--account=ai", "--gres=gpu:1"}));
}

TEST(SlurmSite, MayBeEmpty) {
  const LauncherConfig launcher = read_cluster("{}");
  EXPECT_EQ(launcher.slurm->poll.count(), 5);
  EXPECT_EQ(launcher.slurm->patience.count(), 3600);
  EXPECT_EQ(place_words(*launcher.slurm, launcher.slurm->standard), Words{});
  EXPECT_EQ(launcher_words(launcher, "zen4"), Words{});  // it is in no words, and no mistake
}

TEST(SlurmSite, APlaceIsAskedForByEitherName) {
  const SlurmSite site = *read_cluster(kCluster).slurm;
  EXPECT_EQ(place_named(site, "zen4").usual.cpus, 4);
  EXPECT_EQ(place_named(site, "genoa").usual.cpus, 4);
  EXPECT_EQ(place_named(site, "build").arguments, Words{"--qos=low"});
  const SlurmPlace other = place_named(site, "other");
  EXPECT_EQ(other.partition, "other");
  EXPECT_EQ(other.usual.cpus, 8);
  EXPECT_EQ(other.arguments, Words{});
}

TEST(SlurmSite, WhatIsWrongIsNamed) {
  struct Case {
    const char *slurm, *more, *pointer, *message;
  };
  for (const Case& one : {
           Case{R"({"default": {"partitoin": "x"}})", "", "/launcher/slurm/default/partitoin", "unknown key"},
           Case{R"({"arguments": ["ai"]})", "", "/launcher/slurm/arguments/0", "an option of sbatch"},
           Case{R"({"arguments": ["--comment=mine"]})", "", "/launcher/slurm/arguments/0", "kiln's own"},
           Case{R"({"partitions": {"zen4": {"arguments": ["-J", "x"]}}})", "",
                "/launcher/slurm/partitions/zen4/arguments/0", "kiln's own"},
           Case{R"({"default": {"cpus": 0}})", "", "/launcher/slurm/default/cpus", "1"},
           Case{R"({"default": {"most": {"partition": "x"}}})", "", "/launcher/slurm/default/most/partition",
                "unknown key"},
           Case{R"({"poll": "0s"})", "", "/launcher/slurm/poll", "once a second"},
           Case{R"({})", R"(, "partition": "x")", "/partition", "names its partitions itself"},
       }) {
    try {
      read_cluster(one.slurm, one.more);
      ADD_FAILURE() << one.slurm;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.where().pointer, one.pointer);
      EXPECT_NE(error.format().find(one.message), std::string::npos) << error.format();
    }
  }
}

}  // namespace
}  // namespace kiln
