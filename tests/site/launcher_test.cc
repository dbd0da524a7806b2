#include "factory/site/launcher.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Words = std::vector<std::string>;

Launcher read_cluster(const std::string& slurm, const std::string& more = "") {
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
  const SlurmPartition& zen4 = site.partitions.at("zen4");
  EXPECT_EQ(zen4.name, "genoa");
  EXPECT_EQ(zen4.microarchitecture, "zen4");
  EXPECT_EQ(zen4.usual.cpus, 4);
  EXPECT_EQ(zen4.usual.memory, 16ull << 30);
  EXPECT_EQ(zen4.most.memory, 64ull << 30);
  EXPECT_EQ(zen4.arguments, Words{});
  const SlurmPartition& gpu = site.partitions.at("nvidia:sm_90");
  EXPECT_EQ(gpu.microarchitecture, "");
  EXPECT_EQ(gpu.most.memory, 64ull << 30);
  EXPECT_EQ(gpu.most.time.count(), 86400);
  EXPECT_EQ(partition_words(site, gpu), (Words{"--partition=gpu", "--account=ai", "--gres=gpu:1"}));
}

TEST(SlurmSite, MayBeEmpty) {
  Launcher launcher = read_cluster("{}");
  EXPECT_EQ(launcher.slurm->poll.count(), 5);
  EXPECT_EQ(launcher.slurm->patience.count(), 3600);
  EXPECT_EQ(partition_words(*launcher.slurm, launcher.slurm->standard), Words{});
  launcher.ask_for("zen4");
  EXPECT_EQ(launcher.prefix(), Words{});  // it is in no words, and no mistake
}

TEST(SlurmSite, APartitionIsAskedForByEitherName) {
  const SlurmSite site = *read_cluster(kCluster).slurm;
  EXPECT_EQ(partition_named(site, "zen4").usual.cpus, 4);
  EXPECT_EQ(partition_named(site, "genoa").usual.cpus, 4);
  EXPECT_EQ(partition_named(site, "build").arguments, Words{"--qos=low"});
  const SlurmPartition other = partition_named(site, "other");
  EXPECT_EQ(other.name, "other");
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

using Words = std::vector<std::string>;

Launcher read(const std::string& text) {
  return read_launcher(JsonDocument::parse(text, "site.json").root());
}

Error error_in(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error in " << text;
  return {ExitCode::ok, ""};
}

TEST(Launcher, AsksForThePartitionOfTheSiteOrAnother) {
  Launcher launcher =
      read(R"({"launcher": ["srun", "-n1", "--partition={partition}"], "partition": "build"})");
  EXPECT_EQ(launcher.prefix(), (Words{"srun", "-n1", "--partition=build"}));
  launcher.ask_for("zen4");
  EXPECT_EQ(launcher.prefix(), (Words{"srun", "-n1", "--partition=zen4"}));
}

TEST(Launcher, WithoutPartitionsIsTakenAsItIs) {
  EXPECT_EQ(read("{}").prefix(), Words{});
  EXPECT_EQ(read(R"({"launcher": ["srun"]})").prefix(), Words{"srun"});
  for (const char* text : {"{}", R"({"launcher": ["srun"]})"}) {
    try {
      read(text).ask_for("zen4");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(error.hint().find("--partition={partition}"), std::string::npos);
    }
  }
}

TEST(Launcher, IsRefusedWhereOneOfTheTwoIsMissing) {
  EXPECT_EQ(
      error_in(R"({"launcher": ["srun"], "partition": "build"})").format(),
      "site.json:1:37: error: no word of the launcher asks for a partition (at /partition); for example "
      "\"--partition={partition}\"");
  const Error nameless = error_in(R"({"launcher": ["srun", "-p", "{partition}"]})");
  EXPECT_EQ(nameless.where().pointer, "/launcher");
  EXPECT_EQ(nameless.message(), "{partition} has no name");
  EXPECT_EQ(error_in(R"({"partition": "build"})").where().pointer, "/partition");
  EXPECT_EQ(error_in(R"({"launcher": [""]})").where().pointer, "/launcher/0");
}

}  // namespace
}  // namespace kiln
