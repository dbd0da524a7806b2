#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/engine/engine.h"
#include "factory/engine/mounting_engine.h"
#include "factory/oci/blob_store.h"
#include "support/fake_effects.h"
#include "support/tar_bytes.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// Real folders, which nobody mounts: the programs are the fake runner's.
class Apptainer : public ::testing::Test {
 protected:
  Apptainer() { setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}}; }

  const Command& ran(const testing::CommandWords& words) const {
    for (const Command& command : runner.commands)
      if (testing::has_words(command, words)) return command;
    ADD_FAILURE() << "no command with " << words.front();
    static const Command none;
    return none;
  }
  static ContainerRun request() {
    ContainerRun request;
    request.argv = {"/bin/sh", "-eu", "run.sh"};
    request.folder = "/run/kiln/it's";
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
  // A layer of one file, in the blob store.
  BuiltLayer layer(const std::string& step, const std::string& file) {
    const std::string bytes = testing::tar({{file, '0', "of " + step}});
    BuiltLayer layer;
    layer.blob = BlobStore(folder / "store").put(bytes, std::string(media_type::kLayerTar));
    layer.diff_id = Digest::of(bytes);
    layer.step = step;
    return layer;
  }
  fs::path tree() const {
    const auto names = files.list(folder / "engine/containers");
    return folder / "engine/containers" / names.at(0) / "tree";
  }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  RealFileSystem files;
  testing::FakeClock clock;
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
  const std::string a = std::string(64, 'a'), b = std::string(64, 'b');
};

TEST_F(Apptainer, RunsUponATreeThatKeepsWhatIsTheMachinesOut) {
  ApptainerEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.environment = {{"https_proxy", "http://user:secret@proxy"}};
  run.mounts = {{folder.write("a,b/\"f\"", ""), "/opt/file"}};
  container->run(run);
  const Command& command = ran({"exec", "--writable"});
  EXPECT_EQ(command.argv.front(), "apptainer");
  for (const char* word : {"--contain", "--no-home", "--cleanenv", "--ipc", "--uts"})
    EXPECT_TRUE(testing::has_words(command, {word})) << word;
  EXPECT_TRUE(testing::has_words(command, {"--no-mount", "tmp,sys,bind-paths"}));
  EXPECT_TRUE(
      testing::has_words(command, {"--mount", "type=bind,source=/proc/sys,destination=/proc/sys,ro"}));
  EXPECT_TRUE(
      testing::has_words(command, {"--mount", "type=bind,\"source=" + (folder / "a,b/\"\"f\"\"").string() +
                                                  "\",destination=/opt/file,ro"}));
  EXPECT_TRUE(testing::has_words(command, {tree().string(), "/bin/sh", "-c"}));
  EXPECT_EQ(testing::CommandWords(command.argv.end() - 3, command.argv.end()), run.argv);
  const std::string& start = *(command.argv.end() - 5);
  EXPECT_EQ(start.find("unset "), 0u) << start;
  EXPECT_NE(start.find("cd '/run/kiln/it'\\''s' && unset OLDPWD; echo >/run/kiln/begun; "),
            std::string::npos);
  EXPECT_TRUE(command.own_processes);
  EXPECT_EQ(command.file_mask, 022u);
  for (const std::string& word : command.argv)
    EXPECT_EQ(word.find("secret"), std::string::npos) << "command lines are public";
}

TEST_F(Apptainer, MountPointsAreThereBeforeItRuns) {
  runner.respond = [&](const Command& command) {
    if (testing::has_words(command, {"exec"})) {
      for (const char* path : {"proc", "dev", "run/kiln", "opt/built", "etc/hosts", "etc/resolv.conf"})
        EXPECT_TRUE(fs::exists(tree() / path)) << path;
    }
    return CommandResult{};
  };
  ApptainerEngine engine(setup);
  auto container = engine.start(nullptr);
  ContainerRun run = request();
  run.mounts = {{folder.path(), "/opt/built/x"}};
  container->run(run);
  EXPECT_TRUE(fs::is_directory(container->changes().folder / "sys")) << "as buildah leaves it";
}

TEST_F(Apptainer, WithoutNetworkMeansAnEmptyNamespace) {
  ApptainerEngine engine(setup);
  ContainerRun run = request();
  run.network = false;
  engine.start(nullptr)->run(run);
  EXPECT_TRUE(testing::has_words(ran({"exec", "--writable"}), {"unshare", "--net", "--", "/bin/sh", "-c",
                                                               "ip link set lo up && exec \"$@\""}));
}

TEST_F(Apptainer, WhatItSaysBeforeTheScriptIsItsOwn) {
  runner.begins_scripts = false;
  ApptainerEngine engine(setup);
  auto container = engine.start(nullptr);
  EXPECT_EQ(error_of([&] { container->run(request()); }).message(),
            "apptainer reports that the script is done, but has not started it");
  runner.respond = [](const Command& command) {
    const bool is_run = testing::has_words(command, {"exec"});
    return CommandResult{CommandEnd::exited, is_run ? 255 : 0, "", is_run ? "x\nFATAL: no image\n" : "", 0};
  };
  const Error error = error_of([&] { container->run(request()); });
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(), "apptainer could not start the script (exit status 255): FATAL: no image");
  runner.begins_scripts = true;
  EXPECT_EQ(container->run(request()).status, 255) << "which may be the script's";
}

TEST_F(Apptainer, LaysTheLayersOfTheParentBelowTheTopmostFirst) {
  StepRecord parent;
  parent.key = b;
  parent.chain.layers = {layer(a, "one"), layer(a, "two"), layer(b, "three")};
  ApptainerEngine engine(setup);
  auto container = engine.start(&parent);
  container->place_of("/x");
  const Command& mount = ran({"mount", "-t", "overlay"});
  const std::string a24 = a.substr(0, 24), b24 = b.substr(0, 24);
  EXPECT_EQ(mount.folder, folder / "engine/layers");
  EXPECT_EQ(
      mount.argv.at(5).find(fmt::format("lowerdir={}-0:{}-1:{}-0,upperdir=../containers/", b24, a24, a24)),
      0u)
      << mount.argv.at(5);
  EXPECT_EQ(files.read(folder / ("engine/layers/" + a24 + "-1/two")), "of " + a);
  const ChangedTree changed = container->changes();
  EXPECT_EQ(changed.folder.filename(), "upper");
  ASSERT_EQ(changed.below.size(), 3u);
  EXPECT_EQ(changed.below.front(), folder / ("engine/layers/" + b24 + "-0"));
  EXPECT_TRUE(testing::has_words(runner.commands.back(), {"umount"}));
  EXPECT_EQ(fs::status(changed.folder).permissions(), fs::perms(0555)) << "as containers/storage has it";
}

TEST_F(Apptainer, AKeptContainerIsTheLayerOfItsStep) {
  StepRecord parent;
  parent.key = a;
  parent.chain.layers = {layer(a, "one")};
  ApptainerEngine engine(setup);
  for (const char* text : {"first", "second"}) {  // of a step that was run again
    auto container = engine.start(&parent);
    files.write(container->changes().folder / "new", text);
    container->keep(b, [] {});
  }
  EXPECT_TRUE(files.list(folder / "engine/containers").empty());
  StepRecord child = parent;
  child.key = b;
  child.chain.layers.push_back({});
  child.chain.layers.back().step = b;  // and nothing of it in the blob store
  auto container = engine.start(&child);
  EXPECT_EQ(files.read(container->changes().below.front() / "new"), "second");
  EXPECT_EQ(files.list(folder / "engine/layers").size(), 2u);
}

TEST_F(Apptainer, ADamagedLayerLeavesNothing) {
  StepRecord parent;
  parent.chain.layers = {layer(a, "one")};
  parent.chain.layers.front().diff_id = Digest::of("other");
  ApptainerEngine engine(setup);
  EXPECT_EQ(error_of([&] { engine.start(&parent); }).code(), ExitCode::store) << "so that it is mended";
  EXPECT_TRUE(files.list(folder / "engine/layers").empty());
}

TEST_F(Apptainer, AKernelThatKnowsNoVolatileOverlayIsAskedForAPlainOne) {
  bool knows_any = true;
  runner.respond = [&](const Command& command) {
    const bool is_mount = testing::has_words(command, {"mount", "-t"});
    const bool good = !is_mount || (knows_any && !command.argv.at(5).ends_with(",volatile"));
    return CommandResult{CommandEnd::exited, good ? 0 : 32, "", good ? "" : "mount: /x: bad option\n", 0};
  };
  ApptainerEngine engine(setup);
  EXPECT_NO_THROW(engine.start(nullptr)->place_of("/x"));
  knows_any = false;
  const Error error = error_of([&] { engine.start(nullptr)->place_of("/x"); });
  EXPECT_EQ(error.message(), "cannot mount an overlay: mount: /x: bad option");
  EXPECT_TRUE(files.list(folder / "engine/containers").empty());
}

TEST_F(Apptainer, WhatCannotBeUnmountedIsNotTrusted) {
  runner.respond = [](const Command& command) {
    const bool good = !testing::has_words(command, {"umount"});
    return CommandResult{CommandEnd::exited, good ? 0 : 32, "", good ? "" : "busy\n", 0};
  };
  {
    ApptainerEngine engine(setup);
    auto container = engine.start(nullptr);
    container->place_of("/x");
    EXPECT_THROW(container->changes(), Error);
  }
  EXPECT_EQ(files.list(folder / "engine.sessions").size(), 1u);
}

TEST_F(Apptainer, SingularityStandsInWhereOnlyThatIs) {
  runner.respond = [](const Command&) {
    return CommandResult{CommandEnd::exited, 0, "apptainer version 1.4.5-2\n", "", 0};
  };
  EXPECT_EQ(ApptainerEngine(setup).version(), "1.4.5-2");
  EXPECT_FALSE(files.exists(folder / "engine")) << "asking touches nothing";
  runner.missing = {"apptainer"};
  EXPECT_NO_THROW(need_engine("apptainer", runner));
  ApptainerEngine(setup).version();
  EXPECT_EQ(runner.commands.back().argv.front(), "singularity");
  runner.missing = {"apptainer", "singularity"};
  EXPECT_EQ(error_of([&] { need_engine("apptainer", runner); }).code(), ExitCode::tool_missing);
}

TEST(EngineFamily, IsNamedWhereBitsMayDiffer) {
  EXPECT_EQ(engine_family("apptainer"), "apptainer");
  for (const char* engine : {"buildah", "podman", "docker", "folder"}) EXPECT_EQ(engine_family(engine), "");
}

}  // namespace
}  // namespace kiln
