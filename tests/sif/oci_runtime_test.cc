// What the scripts do, asked of /bin/sh itself.
#include "factory/sif/oci_runtime.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/merged.h"

namespace kiln::sif {
namespace {

const std::vector<std::string> kHostileWords = {"plain", "two words", "$HOME",       "`id`", "$(id)", "a'b",
                                                "a\"b",  "a\\b",      "line\nbreak", "*",    "",      "-n",
                                                "%s",    "}"};

std::string run(const std::string& script, const std::vector<std::string>& arguments = {},
                const std::map<std::string, std::string>& environment = {}) {
  testing::TestFolder folder;
  Command command;
  command.argv = {"/bin/sh", folder.write("script", script).string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  command.capture_stdout = true;
  RealCommandRunner runner;
  CommandResult result = runner.run(command);
  EXPECT_TRUE(result.ok()) << result.tail;
  return result.output;
}

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += "[" + word + "]";
  return text;
}

ImageConfig printing(std::vector<std::string> cmd) {
  ImageConfig config;
  config.entrypoint = {"/usr/bin/printf", "[%s]"};
  config.cmd = std::move(cmd);
  return config;
}

TEST(RunScript, PassesWordsAsTheyAre) {
  EXPECT_EQ(run(run_script(printing(kHostileWords))), lines(kHostileWords));
}

TEST(RunScript, ReplacesTheCommandByArguments) {
  EXPECT_EQ(run(run_script(printing({"default"})), {"a", "b c"}), "[a][b c]");
}

// As Apptainer does: arguments go through the shell once more, unless asked not to.
TEST(RunScript, EvaluatesArgumentsUnlessToldNotTo) {
  std::string script = run_script(printing({"default"}));
  EXPECT_EQ(run(script, {"$X"}, {{"X", "value"}}), "[value]");
  EXPECT_EQ(run(script, {"$X", "a\"b"}, {{"X", "value"}, {"SINGULARITY_NO_EVAL", "1"}}), "[$X][a\"b]");
}

TEST(RunScript, RunsCommandsWithoutEntrypoint) {
  ImageConfig config;
  config.cmd = {"/bin/echo", "hello"};
  EXPECT_EQ(run(run_script(config)), "hello\n");
  EXPECT_EQ(run(run_script(config), {"/bin/echo", "other"}), "other\n");
  EXPECT_EQ(run(run_script(ImageConfig{})), "");
}

TEST(EnvironmentScript, SetsValuesAsTheyAre) {
  for (const std::string& value : kHostileWords) {
    ImageConfig config;
    config.env = {"V=" + value};
    EXPECT_EQ(run(environment_script(config) + "/usr/bin/printf '[%s]' \"$V\""), "[" + value + "]");
  }
}

TEST(EnvironmentScript, LetsTheHostWinButForPath) {
  ImageConfig config;
  config.env = {"A=image", "PATH=/image", "EMPTY", "B=x=y", "a.b=no", "1X=no"};
  std::string script =
      environment_script(config) + "/usr/bin/printf '%s ' \"$A\" \"$PATH\" \"[$EMPTY]\" \"$B\"";
  EXPECT_EQ(run(script), "image /image [] x=y ");
  EXPECT_EQ(run(script, {}, {{"A", "host"}, {"PATH", "/host"}}), "host /image [] x=y ");
}

TEST(RuntimeScripts, AreShell) {
  for (const std::string& path : runtime_scripts()) run("set -n\n" + runtime_script(path));
}

TEST(RuntimeScripts, PutTogetherPathsAsTheUserAsks) {
  std::string show =
      runtime_script("env/99-runtimevars.sh") + "echo \"$PATH ${SING_USER_DEFINED_PATH-gone}\"";
  EXPECT_EQ(run(show, {}, {{"PATH", "/b"}}), "/b gone\n");
  EXPECT_EQ(run(show, {},
                {{"PATH", "/b"},
                 {"SING_USER_DEFINED_PREPEND_PATH", "/a"},
                 {"SING_USER_DEFINED_APPEND_PATH", "/c"}}),
            "/a:/b:/c gone\n");
  EXPECT_EQ(run(show, {}, {{"PATH", "/b"}, {"SING_USER_DEFINED_PATH", "/x"}}), "/x gone\n");
  std::string libraries = runtime_script("env/99-base.sh") + "echo \"$LD_LIBRARY_PATH\"";
  EXPECT_EQ(run(libraries), "/.singularity.d/libs\n");
  EXPECT_EQ(run(libraries, {}, {{"LD_LIBRARY_PATH", "/l"}}), "/l:/.singularity.d/libs\n");
}

RuntimeOptions runtime_options() { return {"docker", "//debian:12", "kiln 1", 1'792'494'368}; }

TEST(ImageLabels, AddWhatApptainerAdds) {
  ImageConfig config;
  config.labels = {{"own", "1"}};
  EXPECT_EQ(image_labels(config, runtime_options()),
            (std::map<std::string, std::string>{
                {"own", "1"},
                {"org.label-schema.schema-version", "1.0"},
                {"org.label-schema.build-arch", "amd64"},
                {"org.label-schema.build-date", "Tuesday_20_October_2026_11:6:8_UTC"},
                {"org.label-schema.usage.kiln.version", "kiln 1"},
                {"org.label-schema.usage.singularity.deffile.bootstrap", "docker"},
                {"org.label-schema.usage.singularity.deffile.from", "//debian:12"}}));
}

TEST(InspectMetadata, HasTheScriptsAndLabels) {
  Json attributes = Json::parse(inspect_metadata(printing({}), runtime_options()))["data"]["attributes"];
  EXPECT_EQ(attributes["deffile"], "bootstrap: docker\nfrom: //debian:12");
  EXPECT_EQ(attributes["runscript"].get<std::string>() + "\n", run_script(printing({})));
  EXPECT_EQ(attributes["environment"].size(), 2u);
  EXPECT_EQ(attributes["labels"]["org.label-schema.schema-version"], "1.0");
}

}  // namespace
}  // namespace kiln::sif
