#include "factory/oci/pull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/fake_effects.h"

namespace kiln {
namespace {

using Words = std::vector<std::string>;

struct Pull : ::testing::Test {
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  Skopeo skopeo{runner, clock, {{"HOME", "/root"}}, {}, {}, [](auto) {}};  // nothing is waited for
  void refuse(const std::string& why = "connection refused") {
    runner.respond = [why](const Command&) {
      CommandResult result;
      result.status = 1;
      result.tail = why;
      return result;
    };
  }
};

TEST_F(Pull, ABaseIsCopiedIntoALayout) {
  pull_base("debian:13", "/tmp/l", "/tmp/log", skopeo);
  ASSERT_EQ(runner.commands.size(), 1u);
  EXPECT_EQ(runner.commands[0].argv,
            (Words{"skopeo", "--debug", "copy", "--quiet", "docker://debian:13", "oci:/tmp/l:base"}));
  EXPECT_EQ(runner.commands[0].environment.at("HOME"), "/root");
}

TEST_F(Pull, ABaseIsTakenForTheTargetsArchitecture) {
  pull_base("debian:13", "/tmp/l", "", skopeo, "arm64");
  EXPECT_EQ(runner.commands.at(0).argv,
            (Words{"skopeo", "--debug", "--override-os", "linux", "--override-arch", "arm64", "copy",
                   "--quiet", "docker://debian:13", "oci:/tmp/l:base"}));
}

TEST_F(Pull, ABaseOnDiskKeepsItsTransport) {
  pull_base("oci:/images/base:1", "/tmp/l", "", skopeo);
  EXPECT_EQ(runner.commands.at(0).argv.at(4), "oci:/images/base:1");
}

TEST_F(Pull, AnImageIsFetchedForOneArchitecture) {
  ImageName local = pull_image({"docker", "//host/name:tag", ""}, "arm64", "/tmp/f", skopeo);
  EXPECT_EQ(local.transport, "oci");
  EXPECT_EQ(local.path, "/tmp/f/image");
  EXPECT_EQ(local.tag, "fetched");
  EXPECT_EQ(runner.commands.at(0).argv,
            (Words{"skopeo", "--debug", "--override-os", "linux", "--override-arch", "arm64", "copy",
                   "--quiet", "docker://host/name:tag", "oci:/tmp/f/image:fetched"}));
}

// As `kiln lock` chooses where there is none without a variant.
TEST_F(Pull, AnImageIsFetchedByItsLowestVariant) {
  const std::string low = "sha256:" + std::string(64, '2'), high = "sha256:" + std::string(64, '3');
  runner.respond = [&](const Command& command) {
    CommandResult result;
    const auto& words = command.argv;
    if (std::find(words.begin(), words.end(), "--raw") != words.end()) {
      auto entry = [](const std::string& digest, const char* variant) {
        return Json{{"digest", digest},
                    {"platform", {{"os", "linux"}, {"architecture", "amd64"}, {"variant", variant}}}};
      };
      result.output = Json{{"manifests", {entry(high, "v3"), entry(low, "v2")}}}.dump();
    } else if (words.at(words.size() - 2).find('@') == std::string::npos) {
      result.status = 1;
      result.tail = "no image found in manifest list for architecture amd64, variant \"\", OS linux";
    }
    return result;
  };
  pull_image({"docker", "//host/name:tag", ""}, "amd64", "/tmp/f", skopeo);
  const auto& last = runner.commands.back().argv;
  EXPECT_EQ(last.at(last.size() - 2), "docker://host/name@" + low);
}

TEST_F(Pull, AFailureNamesWhatWasAskedFor) {
  refuse();
  try {
    pull_image({"docker", "//host/name:tag", ""}, "amd64", "/tmp/f", skopeo);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::network);
    EXPECT_NE(error.message().find("cannot fetch docker://host/name:tag"), std::string::npos);
  }
  EXPECT_THROW(pull_base("debian:13", "/tmp/l", "", skopeo), Error);
}

TEST_F(Pull, ReferrersAreAskedForByTheirTagAndMayBeMissing) {
  refuse("manifest unknown");
  Digest image = Digest::of("image");
  pull_referrers({"docker", "//host/name:tag", ""}, image, "/tmp/f", skopeo);
  EXPECT_EQ(runner.commands.at(0).argv,
            (Words{"skopeo", "--debug", "copy", "--quiet", "--all",
                   "docker://host/name:sha256-" + image.hex(), "oci:/tmp/f/image:sha256-" + image.hex()}));
}

}  // namespace
}  // namespace kiln
