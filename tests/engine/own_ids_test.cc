#include <gtest/gtest.h>

#include "factory/engine/user_namespace.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

constexpr const char* kAll = "         0          0 4294967295\n";
constexpr const char* kSingle = "         0       1000          1\n";
constexpr const char* kRange = "         0       1000          1\n         1     100000      65536\n";

TEST(OwnIds, AreCountedAsTheKernelMapsThem) {
  EXPECT_TRUE(is_single_id(kSingle));
  EXPECT_FALSE(is_single_id(kRange));
  EXPECT_FALSE(is_single_id(kAll));
  EXPECT_FALSE(is_single_id(""));
}

TEST(OwnIds, OfAUserStandByNameOrNumber) {
  EXPECT_TRUE(has_range("ada:100000:65536\n", "ada", 1000));
  EXPECT_TRUE(has_range("bob:1:2\n1000:100000:65536\n", "ada", 1000));
  EXPECT_FALSE(has_range("adam:100000:65536\n", "ada", 1000));
  EXPECT_FALSE(has_range("ada:\n", "ada", 1000));
  EXPECT_FALSE(has_range("", "ada", 1000));
}

TEST(OwnIds, AreMappedBehindTheUserWhoIsRoot) {
  const auto ranges = ranges_of("ada:100000:65536\nbob:1:2\n1000:300000:10\nada:5:0\nada:x\n", "ada", 1000);
  EXPECT_EQ(ranges, (std::vector<IdRange>{{100000, 65536}, {300000, 10}}));
  EXPECT_EQ(id_map(1000, ranges),
            (std::vector<std::string>{"0", "1000", "1", "1", "100000", "65536", "65537", "300000", "10"}));
  EXPECT_EQ(id_map(7, {}), (std::vector<std::string>{"0", "7", "1"}));
}

TEST(OwnIds, ThatAreMissingComeBehindAllThatAreTaken) {
  EXPECT_EQ(missing_ranges("", "", "ada"),
            "`echo ada:100000:65536 >> /etc/subuid` and `echo ada:100000:65536 >> /etc/subgid`");
  EXPECT_EQ(missing_ranges("bob:100000:65536\n", "bob:300000:10\nnonsense\n", "ada"),
            "`echo ada:300010:65536 >> /etc/subuid` and `echo ada:300010:65536 >> /etc/subgid`");
}

TEST(OwnIds, AreSpokenOfByProgramsThatCannotHaveThem) {
  EXPECT_TRUE(speaks_of_ids("chown: changing ownership of 'x': Invalid argument"));
  EXPECT_TRUE(speaks_of_ids("potentially insufficient UIDs or GIDs available in user namespace"));
  EXPECT_TRUE(speaks_of_ids("E: setgroups 65534 failed - setgroups (1: Operation not permitted)"));
  EXPECT_FALSE(speaks_of_ids("exit status 1: make: *** [all] Error 2"));
}

TEST(OwnIds, ExplainAFailureOnlyWhereThereIsASingleOne) {
  testing::FakeFileSystem files;
  files.files["/proc/self/uid_map"] = kSingle;
  const Error chown(ExitCode::images_failed, "exit status 1: chown: x: Invalid argument");
  const Error other(ExitCode::images_failed, "exit status 1: false");
  const std::map<std::string, std::string> environment = {{"_CONTAINERS_ROOTLESS_UID", "4242424"}};
  const Error explained = explained_by_ids(chown, files, environment);
  EXPECT_EQ(explained.code(), ExitCode::tool_missing);
  EXPECT_EQ(
      explained.message(),
      "exit status 1: chown: x: Invalid argument: 4242424 has no subordinate ids, and this image's files "
      "belong to several users");
  EXPECT_EQ(explained.hint(),
            "an administrator adds them: `echo 4242424:100000:65536 >> /etc/subuid` and "
            "`echo 4242424:100000:65536 >> /etc/subgid`");
  EXPECT_EQ(explained_by_ids(other, files, environment).message(), other.message());
  files.files["/proc/self/uid_map"] = kRange;
  EXPECT_EQ(explained_by_ids(chown, files, environment).code(), ExitCode::images_failed);
}

}  // namespace
}  // namespace kiln
