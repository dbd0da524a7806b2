#include "factory/oci/image_digest.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

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
