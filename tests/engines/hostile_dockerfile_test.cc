// The real parser as the judge: what buildah reads from a rendered Dockerfile is what the plan says, and what
// our own parser reads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/render/render.h"
#include "factory/source/dockerfile.h"
#include "support/render_sample.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

class HostileDockerfile : public ::testing::Test {
 protected:
  CommandResult buildah(std::vector<std::string> argv) {
    std::vector<std::string> whole = {"buildah",         "--storage-driver", "vfs",          "--root",
                                      folder_ / "store", "--runroot",        folder_ / "run"};
    whole.insert(whole.end(), argv.begin(), argv.end());
    Command command;
    command.argv = std::move(whole);
    command.environment = {{"PATH", std::getenv("PATH")}, {"HOME", folder_.path().string()}};
    command.capture_stdout = true;
    command.limits.wall = std::chrono::seconds(100);
    return RealCommandRunner().run(command);
  }

  // The configuration of the image that buildah makes of it.
  Json built(const std::string& dockerfile) {
    folder_.write("context/Dockerfile", dockerfile);
    CommandResult made =
        buildah({"bud", "--isolation", "chroot", "-t", "hostile", (folder_ / "context").string()});
    EXPECT_TRUE(made.ok()) << made.tail << dockerfile;
    CommandResult shown = buildah({"inspect", "--type", "image", "hostile"});
    EXPECT_TRUE(shown.ok()) << shown.tail;
    Json image = Json::parse(shown.output, nullptr, false);
    return image.is_object() ? image["OCIv1"]["config"] : Json();
  }

  TemporaryFolder folder_;
};

// ENV, LABEL and CMD of a rendered Dockerfile, on no base.
std::string configuration_of(ImageSpec spec) {
  spec.tests.clear();  // their stage stands upon the image
  std::string text = render_dockerfile(spec);
  return "FROM scratch\n" + text.substr(text.find("\nENV "));
}

TEST_F(HostileDockerfile, BuildahReadsBackEveryValue) {
  ImageSpec spec = sample_spec();
  spec.environment.clear();
  spec.labels.clear();
  spec.command = {"first"};
  int number = 0;
  for (const std::string& value : hostile_values()) {
    std::string name = "V" + std::to_string(++number);
    spec.environment[name] = value;
    spec.labels["label." + name] = value;
    spec.command.push_back(value);
  }
  Json config = built(configuration_of(spec));
  ASSERT_TRUE(config.is_object());
  EXPECT_EQ(config["Cmd"], Json(spec.command));
  std::map<std::string, std::string> environment;
  for (const Json& entry : config["Env"]) {
    std::string text = entry.get<std::string>();
    environment[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  for (const auto& [name, value] : spec.environment) EXPECT_EQ(environment[name], value) << name;
  for (const auto& [name, value] : spec.labels)
    EXPECT_EQ(config["Labels"].value(name, "(none)"), value) << name;
}

// Hand-written words that BuildKit's rules make something of: our parser and buildah agree.
TEST_F(HostileDockerfile, OurParserReadsWhatBuildahReads) {
  const std::string text =
      "FROM scratch\nARG who=world\nENV A=1 B=\"two words\" C=a\\ b D='x=$y'\nENV OLD  all of = this\n"
      "ENV E=\"$A-${B}\" F='$A' G=\\$A H=\"\\\"q\\\" \\\\ \\n\" I=${NONE:-default} J=${A:+set} \\\n    # a "
      "comment\n    K=\"l # m\"\n"
      "LABEL a.b=\"c d\" e='f'\nCMD [\"x\", \"a b\", \"\\u00e9\"]\n";
  Json config = built(text);
  ASSERT_TRUE(config.is_object());
  Dockerfile file = parse_dockerfile(text, "Dockerfile");
  std::map<std::string, std::string> variables;
  auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  for (const DockerInstruction& one : file.stages[0].instructions) {
    if (one.verb != DockerVerb::env) continue;
    std::map<std::string, std::string> values;  // those of one ENV do not see each other
    for (const DockerPair& pair : one.pairs)
      values[pair.name] = expand_docker_word(pair.value, lookup, file.escape, "Dockerfile", pair.place);
    for (const auto& [name, value] : values) variables[name] = value;
  }
  EXPECT_EQ(variables.size(), 12u);
  for (const auto& [name, value] : variables) {
    std::string entry = name + "=" + value;
    const Json& all = config["Env"];
    EXPECT_NE(std::find(all.begin(), all.end(), Json(entry)), all.end())
        << entry << " is not in " << all.dump();
  }
  EXPECT_EQ(config["Labels"]["a.b"], "c d");
  EXPECT_EQ(config["Cmd"], Json({"x", "a b", "é"}));
}

}  // namespace
}  // namespace kiln::testing
