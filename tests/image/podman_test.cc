#include "image/engine/podman.h"

#include <gtest/gtest.h>

#include <future>

#include "image/engine/engine_facts.h"
#include "image/engine/run_root.h"
#include "image/engine/storage_trees.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using PodmanWords = std::vector<std::string>;

// A real folder; the engine's programs are the fake runner's, which mounts a folder as the container's tree.
class Podman : public ::testing::Test {
 protected:
  Podman() {
    fs::create_directories(tree);
    runner.respond = [this](const Command& command) {
      if (says(command, {"mount"})) return CommandResult{CommandEnd::exited, 0, tree.string() + "\n", "", 0};
      if (says(command, {"run", "--rm"}) && on_run) on_run(command);
      return CommandResult{};
    };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}};
  }

  static bool says(const Command& command, const PodmanWords& words) {
    return std::search(command.argv.begin(), command.argv.end(), words.begin(), words.end()) !=
           command.argv.end();
  }
  const Command& ran(const PodmanWords& words) const {
    for (const Command& command : runner.commands)
      if (says(command, words)) return command;
    ADD_FAILURE() << "no command with " << words.front();
    static const Command none;
    return none;
  }
  CommandResult run(const ContainerRun& request) {
    PodmanEngine engine(setup);
    return engine.start(nullptr)->run(request);
  }

  testing::TemporaryFolder folder;
  fs::path tree = folder / "tree";
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
  run(request);
  const Command& command = ran({"run", "--rm"});
  EXPECT_TRUE(says(command, {"--rootfs", "--network", "host"}));
  EXPECT_TRUE(says(command, {"--user", "0:0", "--workdir", "/run/kiln/framework-x"}));
  EXPECT_TRUE(says(command, {"--volume", "/host/files:/run/kiln/framework-x:ro"}));
  EXPECT_TRUE(says(command, {"--device", "/dev/nvidia0"}));
  EXPECT_TRUE(says(command, {tree.string(), "/bin/sh", "-c",
                             "echo >/run/kiln/begun; exec >/run/kiln/stdout 2>/run/kiln/stderr; "
                             ". /run/kiln/environment; trap : HUP INT TERM; \"$@\"; exit",
                             "sh", "/bin/sh", "-eu", "run.sh"}));
  EXPECT_EQ(PodmanWords(command.argv.end() - 3, command.argv.end()), request.argv);
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
    EXPECT_EQ(error.message(), "podman says that the script is done, and has not started it");
  }
}

TEST_F(Podman, WithoutNetworkMeansAnEmptyNamespace) {
  ContainerRun request;
  request.argv = {"true"};
  request.network = false;
  run(request);
  const Command& command = ran({"run", "--rm"});
  EXPECT_TRUE(says(command, {"unshare", "--net", "--", "/bin/sh", "-c", "ip link set lo up && exec \"$@\""}));
}

TEST_F(Podman, TakesAwayTheLinkThatPodmanMakesAndNoOther) {
  ContainerRun request;
  request.argv = {"true"};
  const fs::path link = tree / "etc/mtab";
  on_run = [&](const Command&) {
    fs::create_directories(link.parent_path());
    fs::create_symlink("/proc/mounts", link);
  };
  run(request);
  EXPECT_FALSE(fs::exists(tree / "etc")) << "nor the folder that it made for it";
  fs::create_directories(tree / "etc");
  run(request);
  EXPECT_TRUE(fs::exists(tree / "etc"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(link)));
  fs::create_symlink("/proc/mounts", link);
  on_run = nullptr;
  run(request);
  EXPECT_TRUE(fs::exists(fs::symlink_status(link))) << "the image's own";
  fs::remove(link);
  on_run = [&](const Command&) { files.write(link, "mine"); };
  run(request);
  EXPECT_EQ(files.read(link), "mine");
}

TEST_F(Podman, KeepsItsLocksInFilesOfItsStore) {
  PodmanEngine engine(setup);
  { auto container = engine.start(nullptr); }
  const std::string file = folder / "engine/containers.conf";
  const std::string settings = files.read(file).value_or("");
  EXPECT_NE(settings.find("lock_type = \"file\""), std::string::npos) << settings;
  const fs::path run_root = run_root_of(folder / "engine", files).value();
  EXPECT_NE(settings.find("tmp_dir = \"" + (run_root / "libpod").string()), std::string::npos);
  EXPECT_EQ(ran({"create"}).environment.at("CONTAINERS_CONF"), file);
  EXPECT_TRUE(says(ran({"create"}), {"--root", folder / "engine/root", "--runroot", run_root}));
}

// It takes no longer path of a run root, and state folders may lie deep.
TEST_F(Podman, ItsRunRootIsShortAndGoesWithTheStore) {
  setup.store = folder / std::string(80, 'd') / "engine";
  {
    PodmanEngine engine(setup);
    auto container = engine.start(nullptr);
  }
  const fs::path run_root = run_root_of(setup.store, files).value();
  EXPECT_LE(run_root.string().size(), 50u);
  EXPECT_TRUE(says(ran({"create"}), {"--runroot", run_root}));
  EXPECT_EQ(fs::status(run_root).permissions(), fs::perms::owner_all);
  PodmanEngine again(setup);
  { auto container = again.start(nullptr); }
  EXPECT_EQ(run_root_of(setup.store, files), run_root);
  delete_engine_folders(setup.store, runner, files, setup.environment);
  EXPECT_FALSE(fs::exists(run_root));
  EXPECT_FALSE(fs::exists(setup.store));
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

TEST_F(Podman, StartsFromNothingByAnImageWithNothingInIt) {
  runner.respond = [this](const Command& command) {
    if (!says(command, {"image", "exists"})) return CommandResult{};
    return CommandResult{CommandEnd::exited, files.exists(folder / "engine/nothing.tar") ? 0 : 1, "", "", 0};
  };
  PodmanEngine engine(setup);
  { auto one = engine.start(nullptr); }
  { auto two = engine.start(nullptr); }
  EXPECT_EQ(files.read(folder / "engine/nothing.tar")->size(), 1024u) << "the end of an archive";
  EXPECT_EQ(std::count_if(runner.commands.begin(), runner.commands.end(),
                          [](const Command& command) { return says(command, {"import"}); }),
            1);
  EXPECT_EQ(ran({"create"}).argv.end()[-2], "localhost/kiln:nothing");
}

TEST_F(Podman, KeepsAndThenRemoves) {
  {
    PodmanEngine engine(setup);
    engine.start(nullptr)->keep("key", [] {});
  }
  const Command& commit = ran({"commit"});
  EXPECT_FALSE(says(commit, {"--rm"})) << "podman has no such word";
  EXPECT_EQ(commit.argv.back(), "localhost/kiln:key");
  EXPECT_TRUE(ran({"rm"}).despite_interrupt);
  EXPECT_TRUE(files.list(folder / "engine.sessions").empty());
}

TEST_F(Podman, KeepsWhileWhatChangedIsRead) {
  PodmanEngine engine(setup);
  std::promise<void> commits, reads;
  runner.respond = [&](const Command& command) {
    if (says(command, {"commit"})) {
      commits.set_value();
      reads.get_future().wait();
    }
    return CommandResult{};
  };
  engine.start(nullptr)->keep("key", [&] {
    commits.get_future().wait();
    reads.set_value();
  });
  EXPECT_TRUE(std::none_of(runner.commands.begin(), runner.commands.end(),
                           [](const Command& command) { return says(command, {"rmi"}); }));
}

TEST_F(Podman, KeepsNothingOfWhatCannotBeRead) {
  PodmanEngine engine(setup);
  auto container = engine.start(nullptr);
  EXPECT_THROW(container->keep("key", [] { throw Error(ExitCode::store, "no space left"); }), Error);
  EXPECT_TRUE(says(ran({"rmi"}), {"localhost/kiln:key"}));
  EXPECT_TRUE(ran({"rmi"}).despite_interrupt);
}

// A container `c0de` upon `ba5e` in the store's files, which the kernel confirms.
TEST_F(Podman, MountsATreeItselfWhereTheStoresFilesAreBelieved) {
  if (files.exists("/sys/fs/selinux/enforce")) GTEST_SKIP() << "a mount wants SELinux's label here";
  const fs::path overlay = folder / "engine/root/overlay";
  folder.write("engine/boot", files.read("/proc/sys/kernel/random/boot_id").value_or(""));
  fs::create_directories(overlay / "c0de/diff");
  fs::create_directories(overlay / "ba5e/diff");
  fs::create_directories(overlay / "l");
  fs::create_directory_symlink("../ba5e/diff", overlay / "l/SHORT");
  folder.write("engine/root/overlay/c0de/lower", "l/SHORT");
  auto contain = [&](const std::string& name) {
    folder.write("engine/root/overlay-containers/containers.json",
                 R"([{"names": [")" + name + R"("], "layer": "c0de"}])");
  };
  contain("kiln-1");
  StorageTrees(files, folder / "engine", *runner.find_program("podman"))
      .compare("kiln-1", {overlay / "c0de/diff", {overlay / "l/SHORT"}});
  runner.respond = [&](const Command& command) {
    if (says(command, {"create"})) contain(command.argv.end()[-3]);
    return CommandResult{};
  };
  ContainerRun request;
  request.argv = {"true"};
  {
    PodmanEngine engine(setup);
    auto container = engine.start(nullptr);
    container->run(request);
    const Command mount = ran({"mount", "-t", "overlay"});
    EXPECT_EQ(mount.folder, overlay);
    EXPECT_EQ(mount.argv.at(5).find("lowerdir=l/SHORT,upperdir=c0de/diff,workdir=c0de/kiln-work,"), 0u)
        << mount.argv.at(5);
    EXPECT_TRUE(says(ran({"run", "--rm"}), {mount.argv.at(6)})) << "upon it";
    EXPECT_EQ(container->changes().folder, overlay / "c0de/diff");
    EXPECT_EQ(runner.commands.back().argv, (PodmanWords{"umount", mount.argv.at(6)}));
  }
  for (const Command& command : runner.commands)
    EXPECT_FALSE(says(command, {"mount", "kiln-"}) || says(command, {"umount", "kiln-"}))
        << "a start of podman";
  EXPECT_TRUE(files.list(folder / "engine/trees").empty());
}

TEST_F(Podman, ForgetsWhatNobodyNeeds) {
  PodmanEngine(setup).forget({"kiln-1"}, {"localhost/kiln:a", "localhost/kiln:b"});
  EXPECT_TRUE(says(ran({"rm"}), {"rm", "kiln-1"}));
  EXPECT_TRUE(says(ran({"rmi"}), {"rmi", "localhost/kiln:a", "localhost/kiln:b"}));
  runner.respond = [](const Command&) { return CommandResult{CommandEnd::exited, 125, "", "in use\n", 0}; };
  EXPECT_THROW(PodmanEngine(setup).forget({"kiln-2"}, {}), Error);
  EXPECT_EQ(files.list(folder / "engine.sessions").size(), 1u) << "and is not trusted the next time";
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
