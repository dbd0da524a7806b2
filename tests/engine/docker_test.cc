#include "factory/engine/docker.h"

#include "support/docker_fixture.h"

namespace kiln {
namespace {

using testing::Docker, testing::CommandWords;

TEST_F(Docker, MakesTheContainerOfAScriptWhenItsMountsAreKnown) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.environment = {{"https_proxy", "http://user:secret@proxy"}};
  run.limits.memory = 1u << 30;
  run.devices = {"/dev/nvidia0", "/dev/nvidiactl"};
  container->run(run);
  ASSERT_EQ(asked("/containers/create").size(), 1u) << "nobody asked for the tree before";
  const Json made = asked("/containers/create").front()->body;
  EXPECT_EQ(made["Image"], "localhost/kiln:nothing");
  const auto binds = made["HostConfig"]["Binds"].get<CommandWords>();
  EXPECT_EQ(std::count(binds.begin(), binds.end(), "/host/files:/run/kiln/x:ro"), 1);
  EXPECT_EQ(made["HostConfig"]["NetworkMode"], "host");
  ASSERT_EQ(made["HostConfig"]["Devices"].size(), 2u);
  EXPECT_EQ(made["HostConfig"]["Devices"][1]["PathInContainer"], "/dev/nvidiactl");
  EXPECT_EQ(made["HostConfig"]["Memory"], 1073741824);
  EXPECT_EQ(made["Entrypoint"], Json::array({"/bin/sh"}));
  EXPECT_EQ(made["WorkingDir"], "/run/kiln/x");
  EXPECT_EQ(made["OpenStdin"], false);
  EXPECT_EQ(made["Cmd"].back(), "run.sh");
  EXPECT_EQ(made.dump().find("secret"), std::string::npos) << "the daemon tells all who ask";
  for (const Command& command : runner.commands)
    for (const std::string& word : command.argv)
      EXPECT_EQ(word.find("secret"), std::string::npos) << "command lines are public";
  EXPECT_TRUE(all({"docker"}).empty()) << "its program takes longer to start than a script";
  ASSERT_EQ(asked("/start").size(), 1u);
  ASSERT_EQ(asked("/wait").size(), 1u);
  run.network = false;
  container->run(run);
  EXPECT_EQ(asked("/containers/create").back()->body["HostConfig"]["NetworkMode"], "none");
  EXPECT_TRUE(all({"unshare"}).empty()) << "it has such a network of its own";
}

TEST_F(Docker, KillsWhatItsClientLeavesRunning) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  container->run(request());
  EXPECT_TRUE(asked("/kill").empty());
  answers = {{{"/bin/sh"}, {CommandEnd::silence_limit, 9, "", "", 3}}};
  EXPECT_EQ(container->run(request()).end, CommandEnd::silence_limit);
  ASSERT_EQ(asked("/kill").size(), 1u);
  EXPECT_TRUE(asked("/kill").front()->despite_interrupt);
}

TEST_F(Docker, AsksTheDaemonWhetherMemoryRanOut) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  ending["StatusCode"] = 137;
  EXPECT_EQ(container->run(request()).end, CommandEnd::exited);
  description["State"]["OOMKilled"] = true;
  EXPECT_EQ(container->run(request()).end, CommandEnd::out_of_memory);
}

TEST_F(Docker, AnEngineThatDoesNothingIsNotBelieved) {
  runner.begins_scripts = false;
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  Error error = error_of([&] { container->run(request()); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(), "docker reports that the script is done, but has not started it");
  ending["StatusCode"] = 127;
  error = error_of([&] { container->run(request()); });
  EXPECT_EQ(error.message(), "docker could not start the script (exit status 127)");
}

TEST_F(Docker, EndsAsTheScriptDoes) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  EXPECT_TRUE(container->run(request()).ok());
  ending["StatusCode"] = 3;
  EXPECT_EQ(container->run(request()).status, 3);
  ASSERT_EQ(asked("/wait").size(), 2u);
  EXPECT_TRUE(asked("/wait").front()->despite_interrupt) << "the process is told to end, and it with that";
}

// Of a daemon that fails, whoever waits for the script is told.
TEST_F(Docker, SaysWhatTheDaemonSaysOfAScript) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  daemon_answers = {{"/start", refuses(500, "no space left on device")}};
  EXPECT_EQ(error_of([&] { container->run(request()); }).message(),
            "docker cannot start a container: no space left on device");
  daemon_answers = {{"/wait", refuses(404, "No such container")}};
  EXPECT_EQ(error_of([&] { container->run(request()); }).message(),
            "docker cannot wait for a container: No such container");
  daemon_answers = {{"/wait", {0, {}, "it went away"}}};
  EXPECT_EQ(error_of([&] { container->run(request()); }).code(), ExitCode::tool_missing);
  daemon_answers.clear();
  for (const Json& other : {Json(), Json(7), Json{{"StatusCode", "0"}}, Json{{"StatusCode", nullptr}}}) {
    ending = other;
    const Error error = error_of([&] { container->run(request()); });
    EXPECT_EQ(error.code(), ExitCode::store) << other;
    EXPECT_EQ(error.message().find("docker does not say how a container ended"), 0u) << error.message();
  }
}

// A person's terminal is for docker's own program.
TEST_F(Docker, GivesAShellToItsProgram) {
  DockerEngine engine = this->engine();
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.interactive = true;
  container->run(run);
  ASSERT_EQ(all({"docker", "start", "--attach", "--interactive"}).size(), 1u);
  EXPECT_EQ(all({"docker"}).front()->environment.at("DOCKER_HOST"), "unix:///x");
  EXPECT_TRUE(asked("/start").empty());
}

TEST_F(Docker, ReadsChangesWhereTheDaemonKeepsThem) {
  DockerEngine engine = this->engine();
  StepRecord step;
  step.key = std::string(64, 'a');
  auto container = engine.start(&step);
  const ChangedTree tree = container->changes();
  EXPECT_EQ(tree.folder, upper);
  EXPECT_EQ(tree.below, (std::vector<fs::path>{one, two}));
  EXPECT_TRUE(engine.start(nullptr)->changes().below.empty());
  for (const Json& other : {Json(), Json{{"GraphDriver", {{"Data", nullptr}}}}, Json(7)}) {
    description = other;
    const Error error = error_of([&] { container->changes(); });
    EXPECT_EQ(error.message(), "docker's containers are no overlays on this machine");
  }
  const Error error = error_of([&] { container->changes(); });
  EXPECT_NE(error.hint().find("overlay2"), std::string::npos);
}

// As buildah and podman do; Docker's own layer of them is no part of the image.
TEST_F(Docker, AScriptLeavesTheMountPointsThatAnImageLacks) {
  description["GraphDriver"]["Data"]["LowerDir"] =
      (folder / "overlay2/c0de-init/diff").string() + ":" + one.string();
  fs::create_directories(folder / "overlay2/c0de-init/diff/etc");
  fs::create_directories(one / "proc");
  DockerEngine engine = this->engine();
  StepRecord step;
  step.key = std::string(64, 'a');
  auto container = engine.start(&step);
  EXPECT_EQ(container->changes().below, (std::vector<fs::path>{one}));
  EXPECT_TRUE(fs::is_empty(upper));
  container->run(request());
  container->changes();
  EXPECT_EQ(files.list(upper), (CommandWords{"dev", "etc", "sys"}));
}

TEST_F(Docker, MountsATreeItselfAndUnmountsItBeforeItRuns) {
  DockerEngine engine = this->engine();
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
  EXPECT_EQ(asked("/containers/create").size(), 2u) << "one that shows the tree, and that of the script";
  EXPECT_EQ(asked("DELETE /containers/").size(), 1u);
}

TEST_F(Docker, ImportsAnImageThatTheDaemonDoesNotHave) {
  daemon_answers = {{"/containers/create", refuses(404, "No such image: localhost/kiln:a")},
                    {"GET /images/", refuses(404, "No such image")}};
  StepRecord step;
  step.key = std::string(64, 'a');
  DockerEngine engine = this->engine();
  auto container = engine.start(&step);
  runner.respond = [this](const Command& command) {
    const bool is_load = command.argv.size() > 2 && command.argv[2].find("docker load") != std::string::npos;
    if (is_load) daemon_answers.clear();
    return answer(command);
  };
  container->run(request());
  EXPECT_EQ(asked("/containers/create").size(), 2u);
  daemon_answers = {{"/containers/create", refuses(500, "no space left on device")}};
  EXPECT_EQ(error_of([&] { engine.start(&step)->run(request()); }).message(),
            "docker cannot create a container: no space left on device");
}

TEST_F(Docker, KeepsWhileWhatChangedIsRead) {
  DockerEngine engine = this->engine();
  bool is_read = false;
  engine.start(nullptr)->keep("key", [&] { is_read = true; });
  EXPECT_TRUE(is_read);
  ASSERT_EQ(asked("POST /commit").size(), 1u);
  EXPECT_TRUE(asked("POST /commit").front()->what.ends_with("&repo=localhost/kiln&tag=key"));
  EXPECT_TRUE(asked("DELETE /images/").empty());
}

// Else a step that failed would have an image, which its name says is the step's.
TEST_F(Docker, KeepsNothingOfWhatCannotBeRead) {
  DockerEngine engine = this->engine();
  const auto cannot = [] { throw Error(ExitCode::store, "no space left"); };
  EXPECT_EQ(error_of([&] { engine.start(nullptr)->keep("key", cannot); }).message(), "no space left");
  ASSERT_EQ(asked("DELETE /images/localhost/kiln:key").size(), 1u);
  EXPECT_TRUE(asked("DELETE /images/").front()->despite_interrupt);
  daemon_answers = {{"DELETE /images/", {}}};
  EXPECT_EQ(error_of([&] { engine.start(nullptr)->keep("key", cannot); }).message(), "no space left")
      << "and not what came behind it";
}

TEST_F(Docker, RemovesTheContainersOfDeadKilnsOfThisStateFolder) {
  fs::create_directories(folder / "engine.sessions");
  const std::string sessions = folder / "engine.sessions";
  const Json list = {{{"Id", "dead"}, {"Labels", {{"kiln.session", sessions + "/dead"}}}},
                     {{"Id", "other"}, {"Labels", {{"kiln.session", "/elsewhere/engine.sessions/dead"}}}},
                     {{"Id", "somebody"}, {"Labels", nullptr}}};
  daemon_answers = {{"GET /containers/json?all=1", {200, {}, list.dump()}}};
  {
    DockerEngine engine = this->engine();
    auto container = engine.start(nullptr);
    container->run(request());
    ASSERT_EQ(asked("DELETE ").size(), 1u);
    EXPECT_EQ(asked("DELETE ").front()->what, "DELETE /containers/dead?force=1");
    EXPECT_EQ(
        asked("/containers/create").front()->body["Labels"]["kiln.session"].get<std::string>().find(sessions),
        0u);
  }
  engine().start(nullptr);
  EXPECT_EQ(asked("GET /containers/json").size(), 1u) << "nobody was killed since";
}

// A kiln that ran another engine was the first after the kill: it knows nothing of docker's containers.
TEST_F(Docker, LooksForContainersInAStoreThatAnotherEngineCleanedUp) {
  engine().start(nullptr)->run(request());
  files.write(folder / "engine.sessions/1-dead", "");
  { const EngineSession of_another(runner, files, setup.store, setup.environment); }
  engine().start(nullptr)->run(request());
  EXPECT_EQ(asked("GET /containers/json").size(), 2u);
}

TEST_F(Docker, AContainerThatStaysIsLookedForTheNextTime) {
  engine().start(nullptr)->run(request());
  daemon_answers = {{"DELETE /containers/", {0, {}, "it went away"}}};
  engine().start(nullptr)->run(request());
  ASSERT_EQ(asked("GET /containers/json").size(), 1u);
  daemon_answers.clear();
  engine().start(nullptr)->run(request());
  EXPECT_EQ(asked("GET /containers/json").size(), 2u);
}

TEST_F(Docker, WithoutADaemonSaysSo) {
  daemon_answers = {{"GET /containers/json", {0, {}, "Couldn't connect to server"}}};
  DockerEngine engine = this->engine();
  const Error error = error_of([&] { engine.start(nullptr); });
  EXPECT_EQ(error.code(), ExitCode::tool_missing);
  EXPECT_EQ(error.message(), "the Docker daemon does not answer at unix:///x: Couldn't connect to server");
  EXPECT_NE(error.hint().find("DOCKER_HOST"), std::string::npos);
}

TEST_F(Docker, SpeaksTheVersionOfTheDaemon) {
  version = "1.41";
  engine().start(nullptr)->run(request());
  ASSERT_FALSE(calls.empty());
  for (const Asked& call : calls) EXPECT_NE(call.what.find(" /v1.41/"), std::string::npos) << call.what;
  calls.clear();
  version = "1.41/../x";
  engine().start(nullptr)->run(request());
  ASSERT_FALSE(calls.empty());
  for (const Asked& call : calls) EXPECT_EQ(call.what.find("/v1"), std::string::npos) << call.what;
}

TEST_F(Docker, SpeaksToADaemonOfThisMachine) {
  EXPECT_EQ(DockerDaemon("").host(), "unix:///var/run/docker.sock");
  HttpSettings given;
  std::string url;
  class Listener final : public Http {
   public:
    explicit Listener(std::string& url) : url_(url) {}
    HttpAnswer send(const HttpRequest& request) override {
      url_ = request.url;
      return {500, {}, "no JSON\nat all"};
    }

   private:
    std::string& url_;
  };
  const auto connect = [&](HttpSettings settings) {
    given = std::move(settings);
    return std::make_unique<Listener>(url);
  };
  const DockerAnswer answer = DockerDaemon("tcp://127.0.0.1:2375", connect).call({"GET", "/_ping"});
  EXPECT_EQ(url, "http://127.0.0.1:2375/_ping");
  EXPECT_TRUE(given.socket.empty());
  EXPECT_FALSE(answer.ok());
  EXPECT_EQ(answer.message(), "no JSON");
  EXPECT_EQ((DockerAnswer{503, ""}).message(), "status 503");
  const Error error = error_of([&] { DockerDaemon("ssh://there", connect).call({"GET", "/_ping"}); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(), "$DOCKER_HOST is 'ssh://there', which is no daemon of this machine");
}

TEST_F(Docker, ReadsItsVersion) {
  answers = {{{"--version"}, says("Docker version 20.10.24+dfsg1, build 297e128\n")}};
  EXPECT_EQ(engine().version(), "20.10.24");
}

}  // namespace
}  // namespace kiln
