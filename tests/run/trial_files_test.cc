#include "factory/run/trial_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/plan/plan_json.h"
#include "support/one_image.h"
#include "support/step_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

// What a script sees that is started with this setting.
std::string seen_by(const std::string& script, const TuningSetting& setting) {
  const TemporaryFolder folder;
  RealFileSystem files;
  const Recipe recipe = recipe_of_script("it's a script.sh", script);
  for (const auto& [path, file] : recipe.files) files.write(folder.path() / path, file.bytes);
  RealCommandRunner runner;
  Command command;
  command.argv = {"/bin/sh", "-c", "cd \"$0\" && exec /bin/sh -eu \"$1\"", folder.path().string(),
                  recipe.methods.front().script};
  command.environment = script_environment(setting);
  command.environment["PATH"] = "/usr/bin:/bin";
  command.capture_stdout = true;
  return runner.run(command).output;
}

TEST(ScriptRecipe, HandsOptionsAndVariablesOn) {
  const TuningSetting setting = {{"--a", "1"}, {"--b-c", "x y'z\"$HOME`id`\\"}, {"WIDTH", "8"}};
  EXPECT_EQ(seen_by("for word; do printf '[%s]' \"$word\"; done; printf '%s' \"$WIDTH\"", setting),
            "[--a=1][--b-c=x y'z\"$HOME`id`\\]8");
  EXPECT_EQ(seen_by("printf '%s' $#", {}), "0") << "the script's own settings";
}

TEST(ScriptRecipe, StartsPythonForItsFiles) {
  const Recipe recipe = recipe_of_script("train.py", "print(1)");
  EXPECT_EQ(recipe.name, "train.py");
  EXPECT_EQ(recipe.files.at("train.py").bytes, "print(1)");
  const std::string start = recipe.files.at(recipe.methods.front().script).bytes;
  EXPECT_NE(start.find("exec python3 ./train.py"), std::string::npos) << start;
  const Recipe same = recipe_of_script("train.py.start", "echo");
  EXPECT_EQ(same.files.size(), 2u) << "the start of a script is no other's file";
}

TEST(ScriptEnvironment, KeepsOptionsApart) {
  EXPECT_EQ(script_environment({{"A", "1"}}), (std::map<std::string, std::string>{{"A", "1"}}));
  EXPECT_EQ(script_environment({{"--a", "1"}, {"--b", "2"}}).at("KILN_SCRIPT_OPTIONS"), "--a=1 --b=2");
  EXPECT_TRUE(script_environment({}).empty());
}

TEST(TrialKey, IsOfTheStartsAndNotOfTheirPatience) {
  RealFileSystem files;
  const TrialFiles trial("/state/a.trials", files), other("/state/b.trials", files);
  TuningJob job = {{{{"T", "1"}}, 10}};
  const std::string key = trial.key_of(job);
  job[0].patience = 20;
  EXPECT_EQ(trial.key_of(job), key) << "another budget finds the same job";
  EXPECT_NE(other.key_of(job), key) << "another tuning";
  job[0].place.round = 1;
  EXPECT_NE(trial.key_of(job), key);
}

// A node's view of a trial of that image.
class NodeTrialTest : public Steps {
 protected:
  NodeTrialTest() : plan_(one_image("x86_64_v3")), image_(plan_.image(0).spec()) {
    ChosenCells cell;
    cell.images = {0};
    host_.cpu = "zen3";
    host_.model = "EPYC";
    host_.cores = 64;
    TuningSubject subject{
        {image_, Digest::of("m"), script_, {}, true, host_, "kiln 1", 0, "", "", ""}, "", true};
    subject.request.wishes.steps = 9;
    trial_.write(subject, plan_text(plan_, cell));
    trial_.write("k", {{{{"T", "1"}}, 10}});
  }

  void run(const HostDescription& here) {
    const StepSetup setup{site, state, files, runner, clock, environment, {}};
    NodeTrial(trial_.task("k"), files).run(here, setup);
  }

  BuildPlan plan_;
  ImageSpec image_;
  Recipe script_ = recipe_of_script("train.sh", "echo");
  HostDescription host_;
  TrialFiles trial_{folder / "x.trials", files};
};

TEST_F(NodeTrialTest, MeasuresNothingOnAnotherKindOfMachine) {
  HostDescription here = host_;
  here.cores = 32;
  run(here);
  EXPECT_FALSE(files.exists(trial_.answer("k")));
  const std::string refusal = files.read(trial_.refusal("k")).value_or("");
  EXPECT_NE(refusal.find(
                "is another kind of machine (EPYC, 32 cores) than the one that is measured (EPYC, 64 cores)"),
            std::string::npos)
      << refusal;
}

// The image is not built in this state folder: the answer says so, as it would say that a workload crashed.
TEST_F(NodeTrialTest, AnswersWhatBecameOfTheStarts) {
  run(host_);
  const auto answers = trial_.answers("k");
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 1u);
  EXPECT_EQ(answers->front().end, TrialEnd::failed);
  EXPECT_NE(answers->front().why.find("is not built"), std::string::npos) << answers->front().why;
  EXPECT_FALSE(files.exists(trial_.refusal("k")));
}

TEST_F(NodeTrialTest, SaysWhichFileIsDamaged) {
  const fs::path subject = trial_.folder() / "subject.json";
  const std::string text = files.read(subject).value();
  for (const std::string& damaged : {std::string("{"), text.substr(0, text.size() / 2), std::string("{}")}) {
    files.write(subject, damaged);
    try {
      run(host_);
      FAIL() << damaged;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      EXPECT_NE(error.message().find("subject.json"), std::string::npos) << error.message();
    }
  }
  files.write(subject, text);
  files.remove_all(trial_.folder() / "plan.json");
  EXPECT_THROW(run(host_), Error);
}

TEST(TrialFiles, SayWhatIsDamaged) {
  const TemporaryFolder folder;
  RealFileSystem files;
  const TrialFiles trial(folder.path() / "x.trials", files);
  EXPECT_FALSE(trial.answers("k"));
  files.write(trial.answer("k"), "{\"format\": 1, \"answers\": [");
  try {
    (void)trial.answers("k");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find("a file of a tuning is damaged"), std::string::npos);
  }
  EXPECT_THROW(NodeTrial(trial.task("missing"), files), Error);
}

}  // namespace
}  // namespace kiln::testing
