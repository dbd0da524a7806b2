#include <gtest/gtest.h>

#include "factory/engine/engine.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/mounting_engine.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// Real folders, which nobody mounts: the programs are the fake runner's.
class Podman : public ::testing::Test {
 protected:
  Podman() {
    runner.respond = [this](const Command& command) {
      if (testing::has_words(command, {"run", "--rm"}) && on_run) on_run(command);
      return CommandResult{};
    };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}};
  }

  const Command& ran(const testing::CommandWords& words) const {
    for (const Command& command : runner.commands)
      if (testing::has_words(command, words)) return command;
    ADD_FAILURE() << "no command with " << words.front();
    static const Command none;
    return none;
  }
  CommandResult run(const ContainerRun& request) {
    PodmanEngine engine(setup);
    return engine.start(nullptr)->run(request);
  }

  fs::path tree() const {
    const auto names = files.list(folder / "engine/containers");
    return folder / "engine/containers" / names.at(0) / "tree";
  }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  RealFileSystem files;
  testing::FakeClock clock;
  std::function<void(const Command&)> on_run;
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
};

TEST_F(Podman, RunsUponTheMountedTreeWithTheNetworkOfWhoStartsIt) {
  ContainerRun request;
  request.argv = {"/bin/sh", "-eu", "run.sh"};
  request.folder = "/run/kiln/framework-x";
  request.environment = {{"https_proxy", "http://user:secret@proxy"}};
  request.mounts = {{"/host/files", "/run/kiln/framework-x"}};
  request.devices = {"/dev/nvidia0"};
  std::string at;
  on_run = [&](const Command&) { at = tree(); };
  run(request);
  EXPECT_EQ(ran({"mount", "-t", "overlay"}).argv.back(), at);
  const Command& command = ran({"run", "--rm"});
  EXPECT_TRUE(testing::has_words(command, {"--rootfs", "--network", "host"}));
  EXPECT_TRUE(testing::has_words(command, {"--user", "0:0", "--workdir", "/run/kiln/framework-x"}));
  EXPECT_TRUE(testing::has_words(command, {"--volume", "/host/files:/run/kiln/framework-x:ro"}));
  EXPECT_TRUE(testing::has_words(command, {"--device", "/dev/nvidia0"}));
  EXPECT_TRUE(testing::has_words(command, {"--security-opt=label=disable"}))
      << "SELinux has no label for a tree of ours";
  EXPECT_TRUE(
      testing::has_words(command, {at, "/bin/sh", "-c",
                                   "echo >/run/kiln/begun; exec >/run/kiln/stdout 2>/run/kiln/stderr; "
                                   ". /run/kiln/environment; trap : HUP INT TERM; \"$@\"; exit",
                                   "sh", "/bin/sh", "-eu", "run.sh"}));
  EXPECT_EQ(testing::CommandWords(command.argv.end() - 3, command.argv.end()), request.argv);
  EXPECT_TRUE(command.own_processes);
  EXPECT_EQ(command.file_mask, 022u);
  for (const std::string& word : command.argv)
    EXPECT_EQ(word.find("secret"), std::string::npos) << "command lines are public";
}

TEST_F(Podman, AsksForNoMoreFilesAndProcessesThanItMayHave) {
  ContainerRun request;
  request.argv = {"true"};
  run(request);
  const Command& command = ran({"run", "--rm"});
  std::size_t limits = 0;
  for (std::size_t i = 0; i + 1 < command.argv.size(); ++i) {
    if (command.argv[i] != "--ulimit") continue;
    ++limits;
    const std::string& limit = command.argv[i + 1];
    EXPECT_TRUE(limit.starts_with("nofile=") || limit.starts_with("nproc=")) << limit;
    EXPECT_LE(std::stoull(limit.substr(limit.find(':') + 1)), 1ull << 30) << limit;
  }
  EXPECT_EQ(limits, 2u);
}

TEST_F(Podman, AnEngineThatDoesNothingIsNotBelieved) {
  ContainerRun request;
  request.argv = {"true"};
  runner.begins_scripts = false;
  try {
    run(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_EQ(error.message(), "podman reports that the script is done, but has not started it");
  }
}

TEST_F(Podman, WithoutNetworkMeansAnEmptyNamespace) {
  ContainerRun request;
  request.argv = {"true"};
  request.network = false;
  run(request);
  const Command& command = ran({"run", "--rm"});
  EXPECT_TRUE(testing::has_words(
      command, {"unshare", "--net", "--", "/bin/sh", "-c", "ip link set lo up && exec \"$@\""}));
}

TEST_F(Podman, TakesAwayTheLinkThatPodmanMakesAndNoOther) {
  ContainerRun request;
  request.argv = {"true"};
  PodmanEngine engine(setup);
  auto container = engine.start(nullptr);
  const fs::path link = container->place_of("/etc/mtab");
  on_run = [&](const Command&) {
    fs::create_directories(link.parent_path());
    fs::create_symlink("/proc/mounts", link);
  };
  container->run(request);
  EXPECT_FALSE(fs::exists(link.parent_path())) << "nor the folder that it made for it";
  fs::create_directories(link.parent_path());
  container->run(request);
  EXPECT_TRUE(fs::exists(link.parent_path()));
  EXPECT_FALSE(fs::exists(fs::symlink_status(link)));
  fs::create_symlink("/proc/mounts", link);
  on_run = nullptr;
  container->run(request);
  EXPECT_TRUE(fs::exists(fs::symlink_status(link))) << "the image's own";
  fs::remove(link);
  on_run = [&](const Command&) { files.write(link, "mine"); };
  container->run(request);
  EXPECT_EQ(files.read(link), "mine");
}

TEST_F(Podman, LeavesTheMountPointsThatBuildahLeaves) {
  ContainerRun request;
  request.argv = {"true"};
  PodmanEngine engine(setup);
  auto container = engine.start(nullptr);
  container->run(request);
  EXPECT_TRUE(fs::is_directory(container->changes().folder / "sys"));
}

TEST_F(Podman, KeepsItsLocksInFilesOfItsStore) {
  ContainerRun request;
  request.argv = {"true"};
  run(request);
  const std::string file = folder / "engine/containers.conf";
  const std::string settings = files.read(file).value_or("");
  EXPECT_NE(settings.find("lock_type = \"file\""), std::string::npos) << settings;
  const fs::path run_root = run_root_of(folder / "engine", files).value();
  EXPECT_NE(settings.find("tmp_dir = \"" + (run_root / "libpod").string()), std::string::npos);
  EXPECT_EQ(ran({"run", "--rm"}).environment.at("CONTAINERS_CONF"), file);
  EXPECT_TRUE(
      testing::has_words(ran({"run", "--rm"}), {"--root", folder / "engine/root", "--runroot", run_root}));
}

// It takes no longer path of a run root, and state folders may lie deep.
TEST_F(Podman, ItsRunRootIsShortAndGoesWithTheStore) {
  setup.store = folder / std::string(80, 'd') / "engine";
  ContainerRun request;
  request.argv = {"true"};
  run(request);
  const fs::path run_root = run_root_of(setup.store, files).value();
  EXPECT_LE(run_root.string().size(), 50u);
  EXPECT_TRUE(testing::has_words(ran({"run", "--rm"}), {"--runroot", run_root}));
  EXPECT_EQ(fs::status(run_root).permissions(), fs::perms::owner_all);
  PodmanEngine again(setup);
  { auto container = again.start(nullptr); }
  EXPECT_EQ(run_root_of(setup.store, files), run_root);
  delete_engine_folders(setup.store, runner, files, setup.environment);
  EXPECT_FALSE(fs::exists(run_root));
  EXPECT_FALSE(fs::exists(setup.store));
}

TEST_F(Podman, TheRunRootOfAStoreIsNotThatOfItsCopy) {
  const fs::path run_root = make_run_root(setup.store, files, setup.environment);
  const fs::path copy = folder / "copied";
  fs::copy(setup.store, copy, fs::copy_options::recursive);
  EXPECT_EQ(run_root_of(copy, files), std::nullopt);
  delete_engine_folders(copy, runner, files, setup.environment);
  EXPECT_TRUE(fs::exists(run_root));
  delete_engine_folders(setup.store, runner, files, setup.environment);
  EXPECT_FALSE(fs::exists(run_root));
}

TEST_F(Podman, WhatAStoreSaysOfAForeignFolderIsNotBelieved) {
  const fs::path precious = folder / "precious";
  fs::create_directories(precious);
  fs::create_directory_symlink(precious, folder / "kiln-run-link");
  for (const fs::path& named : {precious, folder / "kiln-run-link", folder / "kiln-run-none"}) {
    files.write(setup.store / "run-root", named.string());
    EXPECT_EQ(run_root_of(setup.store, files), std::nullopt) << named;
    delete_engine_folders(setup.store, runner, files, setup.environment);
    EXPECT_TRUE(fs::exists(precious));
  }
}

TEST_F(Podman, IsOneStartForAStep) {
  ContainerRun request;
  request.argv = {"true"};
  {
    PodmanEngine engine(setup);
    auto container = engine.start(nullptr);
    container->run(request);
    container->changes();
    container->keep(std::string(64, 'a'), [] {});
  }
  EXPECT_EQ(std::count_if(runner.commands.begin(), runner.commands.end(),
                          [](const Command& command) { return testing::has_words(command, {"podman"}); }),
            1);
  EXPECT_EQ(files.list(folder / "engine/layers"), testing::CommandWords{std::string(24, 'a') + "-0"});
}

TEST_F(Podman, HasNothingThatCouldBeTakenOut) {
  EXPECT_THROW(PodmanEngine(setup).forget({"kiln-2"}, {}), Error) << "an older kiln's store is deleted whole";
}

TEST_F(Podman, ReadsItsVersion) {
  runner.respond = [](const Command&) {
    return CommandResult{CommandEnd::exited, 0, "podman version 4.3.1\n", "", 0};
  };
  EXPECT_EQ(PodmanEngine(setup).version(), "4.3.1");
  EXPECT_FALSE(files.exists(folder / "engine")) << "asking touches nothing";
}

TEST(EngineFacts, AreOfEveryEngineThatThereIs) {
  std::vector<std::string> names;
  for (const EngineFacts& one : engine_facts()) {
    names.emplace_back(one.name);
    EXPECT_FALSE(one.isolation.empty() || one.package.empty() || one.least.empty()) << one.name;
  }
  EXPECT_EQ(names, engine_names());
}

TEST(NeedEngine, SaysWhatToInstall) {
  testing::FakeCommandRunner runner;
  EXPECT_NO_THROW(need_engine("podman", runner));
  runner.missing = {"podman"};
  auto error_for = [&](const std::string& name) {
    try {
      need_engine(name, runner);
    } catch (const Error& error) {
      return error;
    }
    return Error(ExitCode::ok, "");
  };
  EXPECT_EQ(error_for("podman").code(), ExitCode::tool_missing);
  EXPECT_EQ(error_for("podman").message(), "the engine 'podman' is not installed or not in PATH");
  EXPECT_EQ(error_for("podman").hint().find("install Debian's package podman, or choose another engine"), 0u);
  EXPECT_EQ(error_for("pdoman").code(), ExitCode::usage);
  EXPECT_EQ(error_for("pdoman").hint(), "did you mean 'podman'?");
}

}  // namespace
}  // namespace kiln
