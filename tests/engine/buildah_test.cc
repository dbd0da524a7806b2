#include "factory/engine/buildah.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/engine/container_files.h"
#include "factory/oci/layout.h"
#include "support/buildah_fixture.h"

namespace kiln::testing {
namespace {

TEST_F(Buildah, StartsFromAKeptStepWithoutAskingARegistry) {
  BuildahEngine engine(setup);
  StepRecord step = parent();
  { auto container = engine.start(&step); }
  const Command& from = ran({"from"});
  EXPECT_TRUE(has_words(from, {"--root", folder / "engine/root", "--runroot", folder / "engine/run",
                               "--storage-driver", "overlay"}));
  EXPECT_TRUE(has_words(from, {"--pull-never"}));
  EXPECT_EQ(from.argv.back(), "localhost/kiln:" + step.key);
  EXPECT_EQ(from.environment, setup.environment) << "nothing of ours leaks in";
  EXPECT_EQ(count({"skopeo"}), 0u);
  EXPECT_EQ(count({"rm"}), 1u);
}

TEST_F(Buildah, ImportsAParentThatTheEngineDoesNotHold) {
  answers = {{{"inspect"}, fails("no such image")}};
  StepRecord step = parent();
  bool is_whole = false;
  runner.respond = [&](const Command& command) {
    if (has_words(command, {"from"}) && !is_whole) return fails("image not known");
    if (command.argv[0] == "skopeo") {
      std::string layout = command.argv[3].substr(4, command.argv[3].rfind(':') - 4);
      PulledImage image = read_layout(layout, files);
      is_whole = image.config.diff_ids == std::vector<Digest>{Digest::of("tar")} &&
                 files.read(blob_in_layout(layout, image.manifest.layers.at(0).digest)) == "layer";
    }
    return answer(command);
  };
  BuildahEngine engine(setup);
  auto container = engine.start(&step);
  EXPECT_TRUE(is_whole);
  EXPECT_EQ(ran({"skopeo", "copy"}).argv.back(),
            "containers-storage:[overlay@" + (folder / "engine/root").string() + "+" +
                (folder / "engine/run").string() + "]localhost/kiln:" + step.key);
  for (const std::string& name : files.list(folder / "engine"))
    EXPECT_FALSE(name.starts_with("import-")) << name;
}

TEST_F(Buildah, AnImportThatFailsSaysWhy) {
  answers = {{{"from"}, fails("image not known")},
             {{"inspect"}, fails("no such image")},
             {{"skopeo"}, fails("time=x\nwriting blob: no space left on device\n")}};
  StepRecord step = parent();
  BuildahEngine engine(setup);
  try {
    engine.start(&step);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find("writing blob: no space left on device"), std::string::npos);
  }
}

TEST_F(Buildah, RunsWithMountsAndASecretEnvironment) {
  std::string environment;
  Command run;
  runner.respond = [&](const Command& command) {
    if (has_words(command, {"run"})) {
      run = command;
      for (const std::string& word : command.argv)
        if (word.ends_with(":/run/kiln/environment:ro"))
          environment = files.read(word.substr(0, word.find(':'))).value_or("");
    }
    return CommandResult{};
  };
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun request;
  request.argv = {"/bin/sh", "-eu", "run.sh"};
  request.folder = "/run/kiln/framework-x";
  request.environment = {{"https_proxy", "http://user:secret@proxy"}, {"TEXT", "it's"}, {"not a name", "x"}};
  request.mounts = {{"/host/files", "/run/kiln/framework-x"}};
  request.limits.silence = std::chrono::seconds(7);
  container->run(request);
  EXPECT_TRUE(has_words(run, {"run", "--isolation", "chroot", "--network", "host", "--user", "0:0",
                              "--workingdir", "/run/kiln/framework-x"}));
  EXPECT_TRUE(has_words(run, {"--volume", "/host/files:/run/kiln/framework-x:ro"}));
  EXPECT_EQ(CommandWords(run.argv.end() - 3, run.argv.end()), request.argv);
  EXPECT_EQ(run.limits.silence, request.limits.silence);
  EXPECT_TRUE(run.own_processes) << "it reaches no process of the machine, and none of its own stays";
  EXPECT_EQ(run.file_mask, 022u) << "whatever the umask of who builds";
  EXPECT_FALSE(run.unsynced) << "unless it is asked for";
  request.unsynced = true;
  container->run(request);
  EXPECT_TRUE(run.unsynced);
  EXPECT_TRUE(ran({"from"}).unsynced) << "the store is a cache";
  for (const std::string& word : run.argv)
    EXPECT_EQ(word.find("secret"), std::string::npos) << "command lines are public";
  EXPECT_EQ(environment, "export TEXT='it'\\''s'\nexport https_proxy='http://user:secret@proxy'\n");
  EXPECT_TRUE(files.list(folder / "tmp").empty());
}

TEST_F(Buildah, StartsAScriptAgainThatItsEngineDidNotBegin) {
  const std::string busy = "Close_Fd sealing memfd copy: Device or resource busy\nError: exit status 1\n";
  int runs = 0;
  int failures = 2;
  CommandResult end{CommandEnd::exited, 1, "", busy, 0};
  runner.respond = [&](const Command& command) {
    if (!has_words(command, {"run"})) return CommandResult{};
    return ++runs <= failures ? end : CommandResult{};
  };
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun request;
  request.argv = {"true"};
  EXPECT_TRUE(container->run(request).ok());
  EXPECT_EQ(runs, 3);
  runs = 0, failures = 100;
  EXPECT_FALSE(container->run(request).ok());
  EXPECT_EQ(runs, 4) << "not for ever";
  runs = 0, end.tail = "a word of the script's\n" + busy;
  EXPECT_FALSE(container->run(request).ok());
  EXPECT_EQ(runs, 1) << "the script had begun";
}

// What buildah 1.28 does with a full disk.
TEST_F(Buildah, AnEngineThatCrashesIsNoScriptThatFails) {
  CommandResult end{CommandEnd::exited, 2, "",
                    "panic: runtime error: invalid memory address or nil pointer dereference\n"
                    "[signal SIGSEGV: segmentation violation]\n\ngoroutine 1 [running]:\nmain.main()\n",
                    0};
  runner.begins_scripts = false;
  runner.respond = [&](const Command& command) {
    return has_words(command, {"run"}) ? end : CommandResult{};
  };
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun request;
  request.argv = {"true"};
  try {
    container->run(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_TRUE(
        error.message().ends_with("crashed before it started the script: panic: runtime error: "
                                  "invalid memory address or nil pointer dereference"))
        << error.message();
  }
  end.tail = "no such file: /bin/sh\n";
  EXPECT_EQ(container->run(request).status, 2) << "an image without a shell: it is not the engine's fault";
  runner.begins_scripts = true;
  end.tail = "panic: a test of the script's\n\ngoroutine 1 [running]:\n";
  EXPECT_EQ(container->run(request).status, 2) << "a program of the script, which is written in Go as well";
}

TEST_F(Buildah, WithoutNetworkMeansAnEmptyNamespace) {
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun request;
  request.argv = {"true"};
  request.network = false;
  container->run(request);
  EXPECT_TRUE(has_words(runner.commands.back(), {"unshare", "--net", "--", "/bin/sh", "-c",
                                                 "ip link set lo up && exec \"$@\"", "sh", "buildah"}));
  runner.missing = {"ip"};
  try {
    container->run(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::tool_missing);
    EXPECT_NE(error.hint().find("iproute2"), std::string::npos);
  }
}

TEST_F(Buildah, ChangesNeedAnOverlay) {
  answers = {{{"mount"}, {CommandEnd::exited, 0, (folder / "merged").string() + "\n", "", 0}}};
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  try {
    container->changes();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find((folder / "merged").string()), std::string::npos);
    EXPECT_NE(error.hint().find("buildah unshare"), std::string::npos);
  }
}

TEST_F(Buildah, AKeptContainerIsGone) {
  {
    BuildahEngine engine(setup);
    auto container = engine.start(nullptr);
    container->keep("key", [] {});
  }
  EXPECT_TRUE(has_words(ran({"commit"}), {"--rm"}));
  EXPECT_EQ(count({"rm"}), 0u);
  EXPECT_TRUE(files.list(folder / "engine.sessions").empty());
}

TEST_F(Buildah, WhatChangedIsReadBeforeItGoes) {
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  EXPECT_THROW(container->keep("key", [] { throw Error(ExitCode::store, "no space left"); }), Error);
  EXPECT_EQ(count({"commit"}), 0u);
  container->keep("key", [&] { EXPECT_EQ(count({"commit"}), 0u); });
  EXPECT_EQ(count({"commit", "--quiet"}), 1u);
}

TEST_F(Buildah, AContainerThatIsKeptAndNotRemovedIsRemovedAfterwards) {
  answers = {{{"--rm"}, fails("container is in use")}};
  {
    BuildahEngine engine(setup);
    auto container = engine.start(nullptr);
    container->keep("key", [] {});
  }
  EXPECT_EQ(count({"commit"}), 2u);
  EXPECT_EQ(count({"rm"}), 1u);
  answers = {{{"commit"}, fails("io: read/write on closed pipe")}};
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  try {
    container->keep("key", [] {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find(" are free in " + setup.store.string()), std::string::npos) << error.hint();
  }
}

TEST_F(Buildah, OfALongChainOfErrorsTheEndIsShown) {
  const std::string layer = "adding layer with blob sha256:" + std::string(64, 'a') + ": ";
  answers = {{{"commit"},
              fails("Error: committing container: copying layers and metadata: " + layer + layer +
                    "write /usr/lib/libx.so: no space left on device")}};
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  try {
    container->keep("key", [] {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "buildah commit failed: … write /usr/lib/libx.so: no space left on device");
  }
}

TEST_F(Buildah, WhatAnEngineLeavesBehindIsNotTrusted) {
  answers = {{{"rm"}, fails("container is in use")}};
  {
    BuildahEngine engine(setup);
    auto container = engine.start(nullptr);
  }
  EXPECT_EQ(files.list(folder / "engine.sessions").size(), 1u);
  answers.clear();
  folder.write("engine/root/rotten", "");
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  EXPECT_FALSE(files.exists(folder / "engine/root/rotten"));
}

TEST_F(Buildah, AContainerIsRemovedEvenWhenWeAreToldToStop) {
  BuildahEngine engine(setup);
  { auto container = engine.start(nullptr); }
  EXPECT_TRUE(ran({"rm"}).despite_interrupt);
  EXPECT_FALSE(ran({"from"}).despite_interrupt);
}

TEST_F(Buildah, ForgetsWhatNobodyNeeds) {
  BuildahEngine(setup).forget({"kiln-1"}, {"localhost/kiln:a", "localhost/kiln:b"});
  EXPECT_TRUE(has_words(ran({"rm"}), {"rm", "kiln-1"}));
  EXPECT_TRUE(has_words(ran({"rmi"}), {"rmi", "localhost/kiln:a", "localhost/kiln:b"}));
  runner.respond = [](const Command&) { return CommandResult{CommandEnd::exited, 125, "", "in use\n", 0}; };
  EXPECT_THROW(BuildahEngine(setup).forget({"kiln-2"}, {}), Error);
  EXPECT_EQ(files.list(folder / "engine.sessions").size(), 1u) << "and is not trusted the next time";
}

TEST_F(Buildah, ReadsItsVersion) {
  answers = {{{"--version"},
              {CommandEnd::exited, 0,
               "buildah version 1.28.2 (image-spec 1.1.0-rc2, runtime-spec 1.0.2-dev)\n", "", 0}}};
  EXPECT_EQ(BuildahEngine(setup).version(), "1.28.2");
  EXPECT_FALSE(files.exists(folder / "engine")) << "asking touches nothing";
}

TEST_F(Buildah, PullsByTransportTagAndDigest) {
  BuildahEngine engine(setup);
  std::string digest = "@sha256:" + std::string(64, '0');
  engine.pull("docker.io/library/debian:13", folder / "l", "");
  EXPECT_EQ(runner.commands.back().argv,
            (CommandWords{"skopeo", "--debug", "copy", "--quiet", "docker://docker.io/library/debian:13",
                          "oci:" + (folder / "l").string() + ":base"}));
  engine.pull("registry:5000/debian:13" + digest, folder / "l", "");
  EXPECT_EQ(runner.commands.back().argv[4], "docker://registry:5000/debian" + digest);
  engine.pull("registry:5000/debian" + digest, folder / "l", "");
  EXPECT_EQ(runner.commands.back().argv[4], "docker://registry:5000/debian" + digest);
  engine.pull("oci:/some/layout:13", folder / "l", "");
  EXPECT_EQ(runner.commands.back().argv[4], "oci:/some/layout:13");
}

TEST_F(Buildah, APullThatFailsSaysWhoseFaultItIs) {
  auto code = [&](const std::string& tail) {
    answers = {{{"skopeo"}, fails(tail)}};
    try {
      BuildahEngine(setup).pull("x/y:1", folder / "l", "");
    } catch (const Error& error) {
      EXPECT_TRUE(error.message().starts_with("cannot pull x/y:1: ")) << error.message();
      return error.code();
    }
    return ExitCode::ok;
  };
  EXPECT_EQ(code("reading manifest 1 in x/y: manifest unknown"), ExitCode::input);
  EXPECT_EQ(code("pinging container registry x: dial tcp: connection refused"), ExitCode::network);
  EXPECT_EQ(code("unauthorized: authentication required"), ExitCode::network);
}

TEST(MakeEngine, KnowsBuildah) {
  FakeCommandRunner runner;
  FakeFileSystem files;
  FakeClock clock;
  EngineSetup setup{runner, files, "/e", "/s", {}, clock};
  EXPECT_EQ(make_engine("buildah", setup)->name(), "buildah");
  try {
    make_engine("buildha", setup);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(), "unknown engine 'buildha'");
    EXPECT_EQ(error.hint(), "did you mean 'buildah'?");
  }
}

}  // namespace
}  // namespace kiln::testing
