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
    for (const char* name :
         {"overlay2/c0de/diff", "overlay2/c0de/work", "overlay2/one/diff", "overlay2/two/diff"})
      fs::create_directories(folder / name);
    runner.respond = [this](const Command& command) { return answer(command); };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}, {"DOCKER_HOST", "unix:///x"}};
  }

  CommandResult answer(const Command& command) {
    for (const auto& [words, result] : answers)
      if (docker_says(command, words)) return result;
    if (docker_says(command, {"{{json .GraphDriver.Data}}"}))
      return says("{\"UpperDir\": \"" + upper.string() + "\", \"WorkDir\": \"" +
                  (folder / "overlay2/c0de/work").string() + "\", \"LowerDir\": \"" + lower + "\"}\n");
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
  const fs::path upper = folder / "overlay2/c0de/diff", one = folder / "overlay2/one/diff",
                 two = folder / "overlay2/two/diff";
  std::string lower = one.string() + ":" + two.string();
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
};

TEST_F(Docker, MakesTheContainerOfAScriptWhenItsMountsAreKnown) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.environment = {{"https_proxy", "http://user:secret@proxy"}};
  run.limits.memory = 1u << 30;
  run.devices = {"/dev/nvidia0", "/dev/nvidiactl"};
  container->run(run);
  const auto created = all({"create"});
  ASSERT_EQ(created.size(), 1u) << "nobody asked for the tree before";
  const Command& last = *created.back();
  EXPECT_TRUE(docker_says(last, {"--pull", "never"}));
  EXPECT_TRUE(docker_says(last, {"--volume", "/host/files:/run/kiln/x:ro"}));
  EXPECT_TRUE(docker_says(last, {"--network", "host"}));
  EXPECT_TRUE(docker_says(last, {"--device", "/dev/nvidia0", "--device", "/dev/nvidiactl"}));
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
  EXPECT_EQ(tree.folder, upper);
  EXPECT_EQ(tree.below, (std::vector<fs::path>{one, two}));
  EXPECT_TRUE(engine.start(nullptr)->changes().below.empty());
  answers = {{{"{{json .GraphDriver.Data}}"}, says("null\n")}};
  const Error error = error_of([&] { container->changes(); });
  EXPECT_EQ(error.message(), "docker's containers are no overlays on this machine");
  EXPECT_NE(error.hint().find("overlay2"), std::string::npos);
}

// As buildah and podman do; Docker's own layer of them is no part of the image.
TEST_F(Docker, AScriptLeavesTheMountPointsThatAnImageLacks) {
  lower = (folder / "overlay2/c0de-init/diff").string() + ":" + one.string();
  fs::create_directories(folder / "overlay2/c0de-init/diff/etc");
  fs::create_directories(one / "proc");
  DockerEngine engine(setup);
  StepRecord step;
  step.key = std::string(64, 'a');
  auto container = engine.start(&step);
  EXPECT_EQ(container->changes().below, (std::vector<fs::path>{one}));
  EXPECT_TRUE(fs::is_empty(upper));
  container->run(request());
  container->changes();
  EXPECT_EQ(files.list(upper), (DockerWords{"dev", "etc", "sys"}));
}

TEST_F(Docker, MountsATreeItselfAndUnmountsItBeforeItRuns) {
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  const fs::path place = container->place_of("/etc/x");
  EXPECT_TRUE(place.string().ends_with("-tree/etc/x")) << place;
  ASSERT_EQ(all({"mount", "-t", "overlay"}).size(), 1u);
  const Command& mount = *all({"mount", "-t", "overlay"}).front();
  EXPECT_EQ(mount.folder, folder / "overlay2");
  EXPECT_EQ(mount.argv.at(5).find("lowerdir=one/diff:two/diff,upperdir=c0de/diff,workdir=c0de/work,"), 0u)
      << mount.argv.at(5);
  EXPECT_EQ(mount.argv.at(5).find("volatile"), std::string::npos) << "Docker mounts it again";
  container->run(request());
  EXPECT_EQ(all({"umount"}).size(), 1u);
  EXPECT_EQ(all({"create"}).size(), 2u) << "one that shows the tree, and that of the script";
  EXPECT_EQ(all({"rm", "--force"}).size(), 1u);
}

TEST_F(Docker, ImportsAnImageThatTheDaemonDoesNotHave) {
  answers = {{{"docker", "create"}, fails("Error: No such image: localhost/kiln:a\n")},
             {{"image", "inspect"}, fails("Error: No such image\n")}};
  StepRecord step;
  step.key = std::string(64, 'a');
  DockerEngine engine(setup);
  auto container = engine.start(&step);
  runner.respond = [this](const Command& command) {
    if (command.argv.front() == "/bin/sh") answers.clear();  // docker load
    return answer(command);
  };
  container->run(request());
  EXPECT_EQ(all({"create"}).size(), 2u);
  answers = {{{"docker", "create"}, fails("Error response from daemon: no space left on device\n")}};
  EXPECT_EQ(error_of([&] { engine.start(&step)->run(request()); }).message(),
            "docker create failed: Error response from daemon: no space left on device");
}

TEST_F(Docker, KeepsWhileWhatChangedIsRead) {
  DockerEngine engine(setup);
  bool is_read = false;
  engine.start(nullptr)->keep("key", [&] { is_read = true; });
  EXPECT_TRUE(is_read);
  EXPECT_EQ(all({"commit"}).front()->argv.back(), "localhost/kiln:key");
  EXPECT_TRUE(all({"rmi"}).empty());
}

// Else a step that failed would have an image, which its name says is the step's.
TEST_F(Docker, KeepsNothingOfWhatCannotBeRead) {
  DockerEngine engine(setup);
  const auto cannot = [] { throw Error(ExitCode::store, "no space left"); };
  EXPECT_EQ(error_of([&] { engine.start(nullptr)->keep("key", cannot); }).message(), "no space left");
  ASSERT_EQ(all({"rmi", "localhost/kiln:key"}).size(), 1u);
  EXPECT_TRUE(all({"rmi"}).front()->despite_interrupt);
}

TEST_F(Docker, RemovesTheContainersOfDeadKilnsOfThisStateFolder) {
  fs::create_directories(folder / "engine.sessions");
  const std::string sessions = folder / "engine.sessions";
  answers = {
      {{"ps", "--all"},
       says("kiln-dead " + sessions + "/dead\nkiln-other /elsewhere/engine.sessions/dead\nsomething\n")}};
  DockerEngine engine(setup);
  auto container = engine.start(nullptr);
  container->run(request());
  const auto removed = all({"docker", "rm", "--force"});
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed.front()->argv.back(), "kiln-dead");
  EXPECT_TRUE(docker_says(*all({"create"}).front(), {"--label"}));
  DockerEngine(setup).start(nullptr);
  EXPECT_EQ(all({"ps", "--all"}).size(), 1u) << "nobody was killed since";
}

// A kiln that ran another engine was the first after the kill: it knows nothing of docker's containers.
TEST_F(Docker, LooksForContainersInAStoreThatAnotherEngineCleanedUp) {
  { DockerEngine(setup).start(nullptr)->run(request()); }
  files.write(folder / "engine.sessions/1-dead", "");
  { const EngineSession of_another(runner, files, setup.store, setup.environment); }
  { DockerEngine(setup).start(nullptr)->run(request()); }
  EXPECT_EQ(all({"ps", "--all"}).size(), 2u);
}

TEST_F(Docker, AContainerThatStaysIsLookedForTheNextTime) {
  { DockerEngine(setup).start(nullptr)->run(request()); }
  answers = {{{"docker", "rm"}, fails("Cannot connect to the Docker daemon\n")}};
  { DockerEngine(setup).start(nullptr)->run(request()); }
  ASSERT_EQ(all({"ps", "--all"}).size(), 1u);
  answers.clear();
  { DockerEngine(setup).start(nullptr)->run(request()); }
  EXPECT_EQ(all({"ps", "--all"}).size(), 2u);
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
