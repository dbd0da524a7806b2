#include "factory/cluster/job_request.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Names = std::set<std::string>;

TEST(SlurmNames, OfASiteFileAreAllThatItsJobsMayAskFor) {
  SlurmSite site;
  site.arguments = {"--account=hpc", "-p", "extra", "--exclusive"};
  site.standard.name = "build";
  site.standard.arguments = {"-Aother", "--partition", "night,day"};
  site.partitions["zen4"].name = "genoa";
  site.partitions["nvidia"].arguments = {"--account", "gpu", "--comment=-Anone"};
  const SlurmNames names = names_of(site);
  EXPECT_EQ(names.partitions, (Names{"build", "day", "extra", "genoa", "night"}));
  EXPECT_EQ(names.accounts, (Names{"gpu", "hpc", "other"}));
}

TEST(SlurmNames, OfSlurmAreReadFromItsPrograms) {
  EXPECT_EQ(
      partitions_in("PartitionName=build AllowGroups=ALL Nodes=a[1-2]\nPartitionName=gpus Default=NO\n"),
      (Names{"build", "gpus"}));
  EXPECT_EQ(partitions_in("No partitions in the system\n"), Names{});
  EXPECT_EQ(accounts_in("hpc\ngpu \n\nhpc\n"), (Names{"gpu", "hpc"}));
}

TEST(SlurmNames, AnOptionAtTheEndHasNoValue) {
  SlurmSite site;
  site.arguments = {"--partition"};
  EXPECT_EQ(names_of(site).partitions, Names{});
}

}  // namespace
}  // namespace kiln
