#include "factory/run/step.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/engine/architecture.h"
#include "factory/oci/layer_write.h"
#include "factory/oci/layout.h"
#include "factory/recipe/parameters.h"
#include "factory/run/script.h"
#include "support/step_fixture.h"

namespace kiln {
namespace {

using testing::Steps;
using testing::TemporaryFolder;

TEST_F(Steps, AScriptRunsWithItsFilesAndParameters) {
  Step& step = add(StepKind::run, add_base());
  step.parameters = {{"KILN_VERSION", "1.0"}, {"KILN_JOBS", "99"}};
  std::map<std::string, std::string> seen;
  engine.script = [&](const fs::path& root, const ContainerRun& request) {
    for (const auto& item : fs::recursive_directory_iterator(request.mounts.at(0).source))
      if (item.is_regular_file())
        seen[item.path().lexically_relative(request.mounts[0].source)] = files.read(item).value_or("");
    files.write(root / "opt/new", "new");
    files.write(root / "tmp/noise", "noise");
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
  const ContainerRun& request = engine.runs.at(0);
  EXPECT_EQ(request.argv, (std::vector<std::string>{"/bin/sh", "-eu", "run.sh"}));
  EXPECT_EQ(request.folder, "/run/kiln/framework-thing");
  EXPECT_EQ(request.mounts[0].target, "/run/kiln/framework-thing");
  EXPECT_TRUE(request.network);
  EXPECT_TRUE(request.unsynced) << "its layer is what lasts";
  EXPECT_EQ(request.limits.wall, site.step_limits.wall);
  EXPECT_EQ(request.environment,
            (std::map<std::string, std::string>{{"KILN_VERSION", "1.0"},
                                                {"KILN_JOBS", "99"},
                                                {"SOURCE_DATE_EPOCH", "315532800"},
                                                {"DEBIAN_FRONTEND", "noninteractive"},
                                                {"LC_ALL", "C.UTF-8"},
                                                {"HOME", "/root"},
                                                {"PATH", "/opt/bin:/bin"},
                                                {"PIP_CONFIG_FILE", "/run/kiln/pip.conf"},
                                                {"GIT_CONFIG_SYSTEM", "/run/kiln/gitconfig"},
                                                {"https_proxy", "p"}}))
      << "PATH is the base's: not every engine knows of it";
  EXPECT_EQ(seen, (std::map<std::string, std::string>{{"run.sh", "echo\n"}, {"data/list.txt", "list"}}));
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});
}

TEST_F(Steps, TheRecordHoldsTheWholeChain) {
  std::string base = add_base();
  Step step = add(StepKind::run, base);
  engine.script = [&](const fs::path& root, const ContainerRun&) {
    files.write(root / "new", "new");
    files.write(root / "tmp/noise", "noise");
    clock.now += 7;
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
  StepRecord done = record(step.key);
  ASSERT_EQ(done.chain.layers.size(), 2u);
  EXPECT_EQ(done.chain.layers[0].created_by, "base");
  EXPECT_EQ(done.chain.layers[1].created_by, "thing 1.0 (distro)");
  EXPECT_EQ(done.chain.layers[1].step, step.key);
  EXPECT_TRUE(BlobStore(state.store()).has(done.chain.layers[1].blob.digest));
  EXPECT_EQ(done.chain.base->env, (std::vector<std::string>{"PATH=/opt/bin:/bin"}));
  EXPECT_EQ(done.seconds, 7);
  EXPECT_EQ(engine.events, (std::vector<std::string>{"started on " + base, "kept " + step.key, "removed"}));
  EXPECT_FALSE(files.exists(engine.folder / "0/tmp/noise")) << "what is kept equals the layer";
}

TEST_F(Steps, WhatIsDoneIsNotDoneAgainUnlessABlobIsGone) {
  Step step = add(StepKind::run, add_base());
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_EQ(run(step.key), StepOutcome::up_to_date);
  EXPECT_EQ(engine.runs.size(), 1u);
  fs::remove(BlobStore(state.store()).path(record(step.key).chain.layers[1].blob.digest));
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_EQ(engine.runs.size(), 2u);
}

TEST_F(Steps, AFailureIsRecordedAndForgottenOnSuccess) {
  Step step = add(StepKind::run, add_base());
  engine.script = [](const fs::path&, const ContainerRun&) {
    return CommandResult{CommandEnd::exited, 2, "", "make: error", 0};
  };
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  FailureRecord failed = failure(step.key);
  EXPECT_EQ(failed.failure, FailureClass::build);
  EXPECT_EQ(failed.what, "exit status 2: make: error");
  EXPECT_EQ(failed.exit_code, ExitCode::images_failed);
  EXPECT_EQ(failed.log, state.log(step.key));
  std::string log = files.read(failed.log).value();
  EXPECT_TRUE(log.starts_with("# thing 1.0 (distro)\n# run " + step.key + "\n# on " + step.parent +
                              "\n# framework/thing run.sh\n\n"))
      << log;
  EXPECT_TRUE(log.ends_with("kiln: error: exit status 2: make: error\n")) << log;
  EXPECT_FALSE(files.exists(state.step(step.key)));
  EXPECT_EQ(engine.events.back(), "removed") << "and not kept";
  engine.script = nullptr;
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_FALSE(files.exists(state.failure(step.key)));
}

TEST_F(Steps, AnInterruptIsNoFailure) {
  Step step = add(StepKind::run, add_base());
  engine.script = [](const fs::path&, const ContainerRun&) {
    return CommandResult{CommandEnd::interrupted, 2, "", "", 0};
  };
  EXPECT_THROW(run(step.key), Error);
  EXPECT_FALSE(files.exists(state.failure(step.key)));
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});
}

TEST_F(Steps, ARecipeThatChangedSinceThePlanIsRefused) {
  Step step = add(StepKind::run, add_base());
  folder.write("recipe/data/list.txt", "another");
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(failure(step.key).failure, FailureClass::input);
  EXPECT_EQ(failure(step.key).what, (folder / "recipe/data/list.txt").string() + " was changed");
  fs::remove(folder / "recipe/data/list.txt");
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(failure(step.key).what, (folder / "recipe/data/list.txt").string() + " was removed");
  EXPECT_TRUE(engine.runs.empty());
}

TEST_F(Steps, AParentThatIsNotDoneIsNamed) {
  Step step = add(StepKind::run, std::string(64, 'c'));
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(failure(step.key).what,
            "the step " + std::string(64, 'c') + " that this one builds on is not done");
}

TEST_F(Steps, AnotherArchitectureIsRefused) {
  Step& step = add(StepKind::rootfs, "");
  Json inputs = inputs_of(step);
  inputs["architecture"] = "pdp11/v8";  // nobody has an emulator of it registered
  step.inputs = inputs.dump();
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_NE(failure(step.key).what.find("and this machine is " + own_architecture()), std::string::npos);
  EXPECT_TRUE(runner.commands.empty());
}

TEST_F(Steps, OfAnotherFamilyOfEnginesAreRefused) {
  Step& base = add(StepKind::rootfs, "");
  base.inputs = R"({"engine": "apptainer"})";
  lowest = base;
  const std::string key = add(StepKind::run, add_base()).key;
  EXPECT_EQ(run(key), StepOutcome::failed);
  EXPECT_EQ(failure(key).failure, FailureClass::input);
  EXPECT_EQ(failure(key).what.find("the engine is folder now, and this step is of apptainer"), 0u);
  EXPECT_EQ(run(base.key), StepOutcome::failed) << "and the base itself";
  EXPECT_TRUE(engine.events.empty());
  lowest->inputs = "{}";
  EXPECT_EQ(run(key), StepOutcome::done);
}

TEST_F(Steps, TheSitesProxyGoesBeforeTheBases) {
  const std::string parent = add_base();
  StepRecord base = record(parent);
  base.chain.base->env = {"https_proxy=theirs", "LD_LIBRARY_PATH=/opt/lib", "nonsense"};
  files.write(state.step(parent), to_json(base).dump());
  ASSERT_EQ(run(add(StepKind::run, parent).key), StepOutcome::done);
  const auto& seen = engine.runs.at(0).environment;
  EXPECT_EQ(seen.at("https_proxy"), "p");
  EXPECT_EQ(seen.at("LD_LIBRARY_PATH"), "/opt/lib");
}

TEST_F(Steps, ARootfsScriptRunsOnTheHost) {
  files.write(folder / "ca.crt", "PEM");
  site.ca_certificates = folder / "ca.crt";
  Step& step = add(StepKind::rootfs, "");
  step.parameters = {{"KILN_FACT_SUITE", "trixie"}};
  runner.respond = [&](const Command& command) {
    EXPECT_EQ(files.read(command.folder / "data/list.txt"), "list");
    files.write(command.environment.at("KILN_OUTPUT"), "tar");
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
  const Command& command = runner.commands.at(0);
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/bin/sh", "-eu", "rootfs.sh"}));
  EXPECT_EQ(command.environment.at("PATH"), "/usr/bin:/bin");
  EXPECT_EQ(command.environment.at("HOME"), "/home/me");
  EXPECT_EQ(command.environment.at("KILN_FACT_SUITE"), "trixie");
  EXPECT_EQ(command.environment.at("SSL_CERT_FILE"), (folder / "ca.crt").string())
      << "where it is on the host";
  EXPECT_EQ(command.log, state.log(step.key));
  EXPECT_TRUE(command.own_processes);
  EXPECT_EQ(command.file_mask, 022u);
  EXPECT_EQ(record(step.key).chain.layers.size(), 1u);
  EXPECT_EQ(engine.events.front(), "started on nothing");
}

TEST_F(Steps, ARootfsScriptMustWriteSomething) {
  Step step = add(StepKind::rootfs, "");
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(failure(step.key).what, "rootfs.sh wrote nothing to $KILN_OUTPUT");
}

TEST_F(Steps, ATestHasNoNetworkAndLeavesItsLastLine) {
  Step step = add(StepKind::test, add_base());
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    clock.now += 3;
    for (const char* line : {"first", "proved", ""}) request.on_line(line);
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_FALSE(engine.runs.at(0).network);
  EXPECT_FALSE(engine.runs.at(0).unsynced) << "a benchmark of a disk would be none";
  EXPECT_FALSE(engine.runs.at(0).environment.contains("https_proxy"));
  auto bytes = files.read(state.test(step.key)).value();
  TestRecord done = test_record_from_json(JsonDocument::parse(bytes, "t").root());
  EXPECT_EQ(done.last_line, "proved");
  EXPECT_EQ(done.seconds, 3);
  EXPECT_EQ(run(step.key), StepOutcome::up_to_date);
}

TEST_F(Steps, WhatNoScriptListsIsInTheTableOfParameters) {
  EXPECT_EQ(run(add(StepKind::test, add_base()).key), StepOutcome::done);
  EXPECT_TRUE(engine.runs.at(0).environment.contains("KILN_JOBS"));
  for (const auto& [name, value] : engine.runs.at(0).environment)
    EXPECT_TRUE(is_given_to_every_script(name)) << name << ": no key covers it, and it may be listed";
}

TEST_F(Steps, ACopyTakesFromTheBuildStage) {
  std::string base = add_base();
  Step build = add(StepKind::run, base);
  engine.script = [&](const fs::path& root, const ContainerRun&) {
    files.write(root / "tool", "tool");
    return CommandResult{};
  };
  ASSERT_EQ(run(build.key), StepOutcome::done);
  Step& copy = add(StepKind::copy, base);
  copy.from = build.key;
  EXPECT_EQ(run(copy.key), StepOutcome::done) << files.read(state.log(copy.key)).value_or("");
  EXPECT_EQ(record(copy.key).chain.layers.size(), 2u) << "the image's chain, not the stage's";
}

class MountingSteps : public Steps {
 protected:
  MountingSteps() {
    base = add_base();
    build = add(StepKind::run, base).key;
    EXPECT_EQ(run(build), StepOutcome::done);
    engine.on_start = [&](const StepRecord& parent) {
      if (parent.key != build) return;
      const fs::path root = engine.folder / std::to_string(engine.containers);
      files.write(root / "opt/wheels/one.whl", "wheel");
      fs::create_symlink("/etc", root / "opt/link");
    };
  }
  StepOutcome install(const std::vector<std::string>& mount, const std::string& name) {
    Step& step = add(StepKind::run, base, name);
    step.from = build;
    step.mount = mount;
    key = step.key;
    return run(key);
  }
  std::string base, build, key;
};

TEST_F(MountingSteps, AScriptSeesFilesOfTheBuildStageThatNoLayerHas) {
  fs::path inside;
  engine.script = [&](const fs::path& root, const ContainerRun& request) {
    inside = root;
    fs::path seen;
    for (const Mount& mount : request.mounts)
      if (mount.target == "/opt/wheels") seen = mount.source;
    // As engines do, to have something to mount upon.
    fs::create_directories(root / "opt/wheels");
    files.write(root / "opt/installed", "yes");
    EXPECT_EQ(files.read(seen / "one.whl"), "wheel");
    return CommandResult{};
  };
  EXPECT_EQ(install({"/opt/wheels"}, "install\n"), StepOutcome::done)
      << files.read(state.log(key)).value_or("");
  EXPECT_EQ(record(key).chain.layers.size(), 2u);
  EXPECT_TRUE(fs::exists(inside / "opt/installed"));
  EXPECT_FALSE(fs::exists(inside / "opt/wheels")) << "a place to mount upon is no file of the image";
}

TEST_F(MountingSteps, ALinkWouldLeadOutOfTheStageAndNothingIsNothing) {
  EXPECT_EQ(install({"/opt/link"}, "one\n"), StepOutcome::failed);
  EXPECT_EQ(failure(key).what, "the build stage left a link at /opt/link");
  EXPECT_EQ(install({"/opt/none"}, "two\n"), StepOutcome::failed);
  EXPECT_EQ(failure(key).what, "the build stage left nothing at /opt/none");
}

TEST_F(Steps, APullTakesLayersAsTheyAreAndChecksThem) {
  BlobStore origin(folder / "origin");
  LayoutImage image;
  TemporaryFolder tree;
  tree.write("file", "content");
  BuiltLayer layer = write_layer({tree.path(), {}}, origin, LayerOptions{});
  image.layers = {layer.blob};
  image.config.env = {"A=b"};
  image.config.diff_ids = {layer.diff_id};
  engine.on_pull = [&](const fs::path& layout) { write_layout(layout, image, origin, files); };
  Step& step = add(StepKind::pull, "");
  step.reference = "docker.io/library/debian:13";
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_EQ(engine.pulled, "docker.io/library/debian:13");
  EXPECT_EQ(record(step.key).chain.layers.at(0).blob, layer.blob);
  EXPECT_EQ(record(step.key).chain.base->env, (std::vector<std::string>{"A=b"}));
  EXPECT_TRUE(BlobStore(state.store()).has(layer.blob.digest));

  image.config.diff_ids = {Digest::of("something else")};
  fs::remove(state.step(step.key));
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_NE(failure(step.key).what.find("is not the one that its configuration names"), std::string::npos);
}

TEST_F(Steps, ABaseOfAnotherArchitectureIsRefused) {
  BlobStore origin(folder / "origin");
  LayoutImage image;
  image.config.architecture = own_architecture() == "arm64" ? "amd64" : "arm64";
  engine.on_pull = [&](const fs::path& layout) { write_layout(layout, image, origin, files); };
  Step& step = add(StepKind::pull, "");
  step.reference = "docker.io/library/debian:13";
  Json inputs = inputs_of(step);
  inputs["architecture"] = own_architecture();
  step.inputs = inputs.dump();
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(failure(step.key).what, "docker.io/library/debian:13 is an image for " +
                                        image.config.architecture + ", and the target is for " +
                                        own_architecture());
}

TEST(Epoch, IsTheEnvironmentsOrTheOldestOfZip) {
  EXPECT_EQ(source_date_epoch({}), 315532800);
  EXPECT_EQ(source_date_epoch({{"SOURCE_DATE_EPOCH", "1700000000"}}), 1700000000);
  for (const char* bad : {"yesterday", "1.5", "-1", "12 "})
    EXPECT_THROW(source_date_epoch({{"SOURCE_DATE_EPOCH", bad}}), Error) << bad;
}

TEST(EngineEnvironment, IsAnAllowList) {
  EXPECT_EQ(engine_environment(
                {{"PATH", "/bin"}, {"HOME", "/h"}, {"LD_PRELOAD", "x"}, {"TOKEN", "t"}, {"TMPDIR", "/tmp"}},
                "/s/tmp"),
            (std::map<std::string, std::string>{
                {"PATH", "/bin"}, {"HOME", "/h"}, {"TMPDIR", "/s/tmp"}, {"LC_ALL", "C.UTF-8"}}));
}

}  // namespace
}  // namespace kiln
