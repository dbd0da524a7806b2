#include "image/engine/docker.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using DockerWords = std::vector<std::string>;

bool docker_says(const Command& command, const DockerWords& words) {
  return std::search(command.argv.begin(), command.argv.end(), words.begin(), words.end()) !=
         command.argv.end();
}

// Real folders in the places of the daemon's; its answers are the fake runner's.
class Docker : public ::testing::Test {
 protected:
  Docker() {
    for (const char* name : {"upper", "work", "lower1", "lower2"}) fs::create_directories(folder / name);
    runner.respond = [this](const Command& command) { return answer(command); };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}, {"DOCKER_HOST", "unix:///x"}};
  }

  CommandResult answer(const Command& command) {
    for (const auto& [words, result] : answers)
      if (docker_says(command, words)) return result;
    if (docker_says(command, {"{{json .GraphDriver.Data}}"}))
      return says("{\"UpperDir\": \"" + (folder / "upper").string() + "\", \"WorkDir\": \"" +
                  (folder / "work").string() + "\", \"LowerDir\": \"" + lower + "\"}\n");
    if (docker_says(command, {"{{.State.OOMKilled}}"})) return says("false\n");
    return {};
  }
  static CommandResult says(const std::string& output) { return {CommandEnd::exited, 0, output, "", 0}; }
  static CommandResult fails(const std::string& tail) { return {CommandEnd::exited, 1, "", tail, 0}; }

  std::vector<const Command*> all(const DockerWords& words) const {
    std::vector<const Command*> found;
    for (const Command& command : runner.commands)
      if (docker_says(command, words)) found.push_back(&command);
    return found;
  }
  static ContainerRun request() {
    ContainerRun request;
    request.argv = {"/bin/sh", "run.sh"};
    request.folder = "/run/kiln/x";
    request.mounts = {{"/host/files", "/run/kiln/x"}};
    return request;
  }
  Error error_of(const std::function<void()>& doing) {
    try {
      doing();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ExitCode::ok, ""};
  }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  RealFileSystem files;
  testing::FakeClock clock;
  std::vector<std::pair<DockerWords, CommandResult>> answers;
  std::string lower = (folder / "lower1").string() + ":" + (folder / "lower2").string();
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
};

TEST_F(Docker, MakesTheContainerOfAScriptWhenItsMountsAreKnown) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.environment = {{"https_proxy", "http://user:secret@proxy"}};
  run.limits.memory = 1u << 30;
  container->run(run);
  const auto created = all({"create"});
  ASSERT_EQ(created.size(), 2u) << "one that shows the tree, and that of the script";
  const Command& last = *created.back();
  EXPECT_TRUE(docker_says(last, {"--volume", "/host/files:/run/kiln/x:ro"}));
  EXPECT_TRUE(docker_says(last, {"--network", "host"}));
  EXPECT_TRUE(docker_says(last, {"--memory", "1073741824"}));
  EXPECT_TRUE(docker_says(last, {"--entrypoint", "/bin/sh"}));
  EXPECT_EQ(DockerWords(last.argv.end() - 2, last.argv.end()), run.argv);
  for (const Command& command : runner.commands)
    for (const std::string& word : command.argv)
      EXPECT_EQ(word.find("secret"), std::string::npos) << "command lines are public";
  EXPECT_EQ(all({"start", "--attach"}).size(), 1u);
  run.network = false;
  container->run(run);
  EXPECT_TRUE(docker_says(*all({"create"}).back(), {"--network", "none"}));
  EXPECT_TRUE(all({"unshare"}).empty()) << "it has such a network of its own";
}

TEST_F(Docker, KillsWhatItsClientLeavesRunning) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  container->run(request());
  EXPECT_TRUE(all({"docker", "kill"}).empty());
  answers = {{{"start", "--attach"}, {CommandEnd::silence_limit, 9, "", "", 3}}};
  EXPECT_EQ(container->run(request()).end, CommandEnd::silence_limit);
  ASSERT_EQ(all({"docker", "kill"}).size(), 1u);
  EXPECT_TRUE(all({"docker", "kill"}).front()->despite_interrupt);
}

TEST_F(Docker, AsksTheDaemonWhetherMemoryRanOut) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  answers = {{{"start", "--attach"}, fails("")}};
  EXPECT_EQ(container->run(request()).end, CommandEnd::exited);
  answers.push_back({{"{{.State.OOMKilled}}"}, says("true\n")});
  EXPECT_EQ(container->run(request()).end, CommandEnd::out_of_memory);
}

TEST_F(Docker, AnEngineThatDoesNothingIsNotBelieved) {
  runner.begins_scripts = false;
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  const Error error = error_of([&] { container->run(request()); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(), "docker says that the script is done, and has not started it");
}

TEST_F(Docker, ReadsChangesWhereTheDaemonKeepsThem) {
  DockerEngine engine(setup);
  StepRecord step;
  step.key = std::string(64, 'a');
  auto container = engine.start(&step);
  const ChangedTree tree = container->changes();
  EXPECT_EQ(tree.folder, folder / "upper");
  EXPECT_EQ(tree.below, (std::vector<fs::path>{folder / "lower1", folder / "lower2"}));
  EXPECT_TRUE(engine.start(nullptr)->changes().below.empty());
  answers = {{{"{{json .GraphDriver.Data}}"}, says("null\n")}};
  const Error error = error_of([&] { container->changes(); });
  EXPECT_EQ(error.message(), "docker's containers are no overlays on this machine");
  EXPECT_NE(error.hint().find("overlay2"), std::string::npos);
}

// As buildah and podman do; Docker's own layer of them is no part of the image.
TEST_F(Docker, AScriptLeavesTheMountPointsThatAnImageLacks) {
  lower = (folder / "layers/abc-init/diff").string() + ":" + (folder / "lower1").string();
  fs::create_directories(folder / "layers/abc-init/diff/etc");
  fs::create_directories(folder / "lower1/proc");
  DockerEngine engine(setup);
  StepRecord step;
  step.key = std::string(64, 'a');
  auto container = engine.start(&step);
  EXPECT_EQ(container->changes().below, (std::vector<fs::path>{folder / "lower1"}));
  EXPECT_TRUE(fs::is_empty(folder / "upper"));
  container->run(request());
  container->changes();
  EXPECT_EQ(files.list(folder / "upper"), (DockerWords{"dev", "etc", "sys"}));
}

TEST_F(Docker, MountsATreeItselfAndUnmountsItBeforeItRuns) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  const fs::path place = container->place_of("/etc/x");
  EXPECT_TRUE(place.string().ends_with("-tree/etc/x")) << place;
  ASSERT_EQ(all({"mount", "-t", "overlay"}).size(), 1u);
  EXPECT_TRUE(
      docker_says(*all({"mount", "-t", "overlay"}).front(),
                  {"lowerdir=" + (folder / "lower1").string() + ":" + (folder / "lower2").string() +
                   ",upperdir=" + (folder / "upper").string() + ",workdir=" + (folder / "work").string()}));
  container->run(request());
  EXPECT_EQ(all({"umount"}).size(), 1u);
}

TEST_F(Docker, RemovesTheContainersOfDeadKilnsOfThisStateFolder) {
  fs::create_directories(folder / "engine.sessions");
  const std::string sessions = folder / "engine.sessions";
  answers = {
      {{"ps", "--all"},
       says("kiln-dead " + sessions + "/dead\nkiln-other /elsewhere/engine.sessions/dead\nsomething\n")}};
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  const auto removed = all({"docker", "rm", "--force"});
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed.front()->argv.back(), "kiln-dead");
  EXPECT_TRUE(docker_says(*all({"create"}).front(), {"--label"}));
}

TEST_F(Docker, WithoutADaemonSaysSo) {
  answers = {
      {{"ps"}, fails("Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?\n")}};
  DockerEngine engine(setup);
  const Error error = error_of([&] { engine.start(nullptr); });
  EXPECT_EQ(error.code(), ExitCode::tool_missing);
  EXPECT_NE(error.hint().find("DOCKER_HOST"), std::string::npos);
}

TEST_F(Docker, ReadsItsVersion) {
  answers = {{{"--version"}, says("Docker version 20.10.24+dfsg1, build 297e128\n")}};
  EXPECT_EQ(DockerEngine(setup).version(), "20.10.24");
}

}  // namespace
}  // namespace kiln
