#include "factory/oci/pull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
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

using Words = std::vector<std::string>;

Json manifest() {
  Json blob = {{"mediaType", "x"}, {"digest", "sha256:" + std::string(64, '1')}, {"size", 3}};
  return {{"schemaVersion", 2}, {"config", blob}, {"layers", Json::array({blob})}};
}

Json entry(char digit, const std::string& architecture, const std::string& variant = "",
           const std::string& os = "linux") {
  Json platform = {{"os", os}, {"architecture", architecture}};
  if (!variant.empty()) platform["variant"] = variant;
  return {{"digest", "sha256:" + std::string(64, digit)}, {"platform", platform}};
}

std::string digest_of(char digit) { return "sha256:" + std::string(64, digit); }

// skopeo's answers are the fake runner's.
class ImageDigest : public ::testing::Test {
 protected:
  ImageDigest() {
    runner.respond = [this](const Command& command) {
      bool config = std::find(command.argv.begin(), command.argv.end(), "--config") != command.argv.end();
      CommandResult result = failure;
      if (result.ok()) result.output = config ? R"({"architecture": "amd64", "os": "linux"})" : answer;
      return result;
    };
  }

  std::string digest(const std::string& architecture) {
    return RegistryReader({runner, clock, {{"REGISTRY_AUTH_FILE", "/auth"}}, {.retries = 0}})
        .digest("x:5000/y:1", architecture)
        .text();
  }
  std::string index(std::vector<Json> entries) { return Json{{"manifests", std::move(entries)}}.dump(); }

  Error refused(const std::string& architecture) {
    try {
      digest(architecture);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ExitCode::ok, "");
  }

  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  std::string answer;
  CommandResult failure;
};

TEST_F(ImageDigest, OfASingleManifestIsOfItsBytes) {
  answer = manifest().dump(3);
  EXPECT_EQ(digest("amd64"), Digest::of(answer).text());
  ASSERT_EQ(runner.commands.size(), 2u);
  EXPECT_EQ(runner.commands[0].argv, (Words{"skopeo", "--debug", "inspect", "--raw", "docker://x:5000/y:1"}));
  EXPECT_EQ(runner.commands[1].argv.back(), "docker://x:5000/y@" + Digest::of(answer).text());
  EXPECT_EQ(runner.commands[0].environment.at("REGISTRY_AUTH_FILE"), "/auth");
}

TEST_F(ImageDigest, RegistriesConfIsHandedOver) {
  answer = index({entry('1', "amd64")});
  RegistryReader({runner, clock, {{"CONTAINERS_REGISTRIES_CONF", "/r.conf"}}}).digest("x/y:1", "amd64");
  EXPECT_EQ(runner.commands[0].argv, (Words{"skopeo", "--debug", "--registries-conf", "/r.conf", "inspect",
                                            "--raw", "docker://x/y:1"}));
}

TEST_F(ImageDigest, OfAnIndexIsThePlatformsOwn) {
  answer = index({entry('1', "amd64"), entry('2', "arm64", "v8"), entry('3', "amd64", "", "windows"),
                  entry('4', "unknown", "", "unknown")});
  EXPECT_EQ(digest("amd64"), digest_of('1'));
  EXPECT_EQ(digest("arm64"), digest_of('2'));
}

TEST_F(ImageDigest, OfVariantsIsThePlainOne) {
  answer = index({entry('1', "amd64", "v3"), entry('2', "amd64"), entry('3', "amd64", "v2")});
  EXPECT_EQ(digest("amd64"), digest_of('2'));
  answer = index({entry('1', "arm64", "v9"), entry('2', "arm64", "v8")});
  EXPECT_EQ(digest("arm64"), digest_of('2'));
}

TEST_F(ImageDigest, AReferenceIsAskedForOnce) {
  answer = index({entry('1', "amd64"), entry('2', "arm64")});
  RegistryReader reader({runner, clock, {}});
  reader.digest("x/y:1", "amd64");
  reader.digest("x/y:1", "arm64");
  EXPECT_EQ(runner.commands.size(), 1u);
  reader.digest("x/y:2", "arm64");
  EXPECT_EQ(runner.commands.size(), 2u);
}

TEST_F(ImageDigest, AnotherArchitectureIsRefusedWithThoseThatThereAre) {
  answer = index({entry('1', "amd64"), entry('2', "arm64")});
  EXPECT_EQ(refused("ppc64le").format(),
            "error: x:5000/y:1 has no image for ppc64le; it is for amd64, arm64");
  EXPECT_EQ(refused("ppc64le").code(), ExitCode::input);
  answer = manifest().dump();
  EXPECT_EQ(refused("arm64").format(), "error: x:5000/y:1 has no image for arm64; it is for amd64");
}

TEST_F(ImageDigest, StrangeAnswersAreRefused) {
  for (const char* strange :
       {"", "[]", "{}", "not JSON", R"({"schemaVersion": 1, "fsLayers": []})", R"({"manifests": 1})",
        R"({"manifests": [1]})", R"({"manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]})",
        R"({"manifests": [{"digest": "../x", "platform": {"os": "linux", "architecture": "amd64"}}]})"}) {
    answer = strange;
    EXPECT_EQ(refused("amd64").code(), ExitCode::input) << strange;
  }
}

TEST_F(ImageDigest, FailuresAreInPlainWords) {
  auto fails = [&](const std::string& tail, CommandEnd end = CommandEnd::exited) {
    failure = {end, 1, "", tail, 0};
    return refused("amd64");
  };
  Error down = fails(
      "time=\"2026-11-20T14:00:00Z\" level=fatal msg=\"Error parsing image name \\\"docker://x:5000/y:1\\\": "
      "dial tcp 127.0.0.1:5000: connect: connection refused\"\n");
  EXPECT_EQ(down.code(), ExitCode::network);
  EXPECT_EQ(
      down.message(),
      "cannot ask for the manifest of x:5000/y:1: Error parsing image name \"docker://x:5000/y:1\": dial "
      "tcp 127.0.0.1:5000: connect: connection refused; tried once in 0 s");
  EXPECT_EQ(fails("msg=manifest unknown").code(), ExitCode::input);
  EXPECT_EQ(fails("unauthorized").hint(), "log in with `skopeo login`, or see /etc/containers/policy.json");
  EXPECT_NE(fails("http: server gave HTTP response to HTTPS client").hint().find("insecure"),
            std::string::npos);
  EXPECT_EQ(fails("", CommandEnd::interrupted).code(), ExitCode::interrupted);
}

}  // namespace

}  // namespace kiln
