#include "image/build/step.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "image/build/script.h"
#include "image/engine/architecture.h"
#include "oci/layer_write.h"
#include "oci/layout.h"
#include "recipe/parameters.h"
#include "support/fake_effects.h"
#include "support/folder_engine.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::FolderEngine;
using testing::TemporaryFolder;

class Steps : public ::testing::Test {
 protected:
  Steps() {  // nothing of the machine that the test runs on
    site.ca_certificates = "";
    site.pip_configuration = folder.write("pip.conf", "");
    site.git_configuration = folder.write("gitconfig", "");
  }

  Step& add(StepKind kind, const std::string& parent, const std::string& script = "echo\n") {
    Step step;
    step.kind = kind;
    step.parent = parent;
    step.component = "framework/thing";
    step.title = "thing 1.0 (distro)";
    step.script = std::string(name_of(kind)) + ".sh";
    step.files = {step.script, "data/list.txt"};
    folder.write("recipe/" + step.script, script);
    folder.write("recipe/data/list.txt", "list");
    folder.write("recipe/unnamed.txt", "not for the step");
    Json inputs = {{"script", {{"name", step.script}, {"digest", Digest::of(script).text()}}},
                   {"files", {{"data/list.txt", Digest::of("list").text()}}},
                   {"kind", name_of(kind)},
                   {"parent", parent}};
    step.inputs = inputs.dump();
    step.key = Digest::of(step.inputs).hex();
    return steps[step.key] = step;
  }

  // A finished step to build on.
  std::string add_base() {
    StepRecord record;
    record.key = std::string(64, 'b');
    record.chain.layers = {{BlobStore(state.store()).put("layer", std::string(media_type::kLayerZstd)),
                            Digest::of("tar"), record.key, "base"}};
    record.chain.base = ImageConfig{};
    record.chain.base->env = {"PATH=/opt/bin:/bin"};
    files.write(state.step(record.key), to_json(record).dump());
    return record.key;
  }

  StepOutcome run(const std::string& key) {
    StepSetup setup{site,
                    state,
                    files,
                    runner,
                    clock,
                    environment,
                    {{"framework/thing", folder / "recipe"}, {"base/linux", folder / "recipe"}},
                    lowest};
    return run_step(steps.at(key), setup, engine);
  }
  StepRecord record(const std::string& key) {
    return step_record_from_json(JsonDocument::parse(files.read(state.step(key)).value(), "record").root());
  }
  FailureRecord failure(const std::string& key) {
    return failure_record_from_json(
        JsonDocument::parse(files.read(state.failure(key)).value(), "failure").root());
  }

  TemporaryFolder folder;
  std::map<std::string, Step> steps;
  std::optional<Step> lowest;
  Site site;
  StatePaths state{folder / "state"};
  RealFileSystem files;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  FolderEngine engine;
  std::map<std::string, std::string> environment = {
      {"PATH", "/usr/bin:/bin"}, {"HOME", "/home/me"}, {"https_proxy", "p"}};
};

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
  EXPECT_EQ(request.limits.wall, site.step_limits.wall);
  EXPECT_EQ(request.environment,
            (std::map<std::string, std::string>{{"KILN_VERSION", "1.0"},
                                                {"KILN_JOBS", "99"},
                                                {"SOURCE_DATE_EPOCH", "315532800"},
                                                {"DEBIAN_FRONTEND", "noninteractive"},
                                                {"LC_ALL", "C.UTF-8"},
                                                {"HOME", "/root"},
                                                {"PIP_CONFIG_FILE", "/run/kiln/pip.conf"},
                                                {"GIT_CONFIG_SYSTEM", "/run/kiln/gitconfig"},
                                                {"https_proxy", "p"}}))
      << "PATH is the base's";
  EXPECT_EQ(seen, (std::map<std::string, std::string>{{"run.sh", "echo\n"}, {"data/list.txt", "list"}}));
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});
}

// What a script in a container finds at these places.
std::string mounted(const ContainerRun& request, const std::string& target) {
  for (const Mount& mount : request.mounts)
    if (mount.target == target) return mount.source;
  return "";
}

TEST_F(Steps, TheBasesRecipeSaysHowThisMachineReachesPackages) {
  files.write(folder / "ca.crt", "PEM");
  site.ca_certificates = folder / "ca.crt";
  lowest = add(StepKind::rootfs, "");
  lowest->component = "base/linux";
  lowest->site = lowest->script;
  lowest->parameters = {{"KILN_FACT_SUITE", "trixie"}};
  Step step = add(StepKind::run, add_base());
  runner.respond = [&](const Command& command) {
    const fs::path output = command.environment.at("KILN_OUTPUT");
    EXPECT_EQ(command.argv, (std::vector<std::string>{"/bin/sh", "-eu", "rootfs.sh"}));
    EXPECT_EQ(command.environment.at("KILN_FACT_SUITE"), "trixie");
    EXPECT_EQ(command.log, state.log(step.key));
    EXPECT_EQ(files.read(command.folder / "data/list.txt"), "list");
    files.write(output / "apt.conf", "Acquire::Retries 7;\n");
    files.write(output / "sources", "deb x");
    return CommandResult{};
  };
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    EXPECT_EQ(files.read(fs::path(mounted(request, "/run/kiln/site/base")) / "sources"), "deb x");
    EXPECT_EQ(files.read(mounted(request, request.environment.at("APT_CONFIG"))),
              "Acquire::Retries 7;\nAcquire::https::CaInfo \"/run/kiln/ca-certificates.crt\";\n");
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done) << files.read(state.log(step.key)).value_or("");
  EXPECT_EQ(engine.runs.size(), 1u);

  fs::remove(state.step(step.key));
  runner.respond = [](const Command&) { return CommandResult{CommandEnd::exited, 6, "", "no mirror", 0}; };
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(engine.runs.size(), 1u) << "not without what the site says";
  EXPECT_NE(failure(step.key).what.find("no mirror"), std::string::npos);

  runner.commands.clear();
  engine.script = nullptr;
  EXPECT_EQ(run(add(StepKind::test, add_base()).key), StepOutcome::done);
  EXPECT_TRUE(runner.commands.empty()) << "a test has no network";
}

TEST_F(Steps, SecretsAreMountedForTheStepThatNamesThem) {
  site.file = "site.json";
  const std::string licence = folder.write("licence", "key=0123456789\n");
  site.secrets = {{"licence", {licence, ""}}, {"token", {"", "TOKEN"}}, {"other", {"/nowhere", ""}}};
  environment["TOKEN"] = "s3cr3t";
  Step& step = add(StepKind::run, add_base());
  step.secrets = {"licence", "token"};
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    EXPECT_EQ(request.environment.at("KILN_SECRETS"), "/run/kiln/secrets");
    EXPECT_EQ(mounted(request, "/run/kiln/secrets/licence"), licence) << "no copy that could be left behind";
    EXPECT_EQ(files.read(mounted(request, "/run/kiln/secrets/token")), "s3cr3t");
    EXPECT_EQ(mounted(request, "/run/kiln/secrets/other"), "");
    for (const char* word : {"s3cr3t", "key=0123456789", "0123456789"})
      EXPECT_NE(std::find(request.hidden.begin(), request.hidden.end(), word), request.hidden.end()) << word;
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done) << files.read(state.log(step.key)).value_or("");
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});

  Step& another = add(StepKind::run, step.key);
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    EXPECT_FALSE(request.environment.contains("KILN_SECRETS"));
    EXPECT_EQ(mounted(request, "/run/kiln/secrets/token"), "");
    return CommandResult{};
  };
  EXPECT_EQ(run(another.key), StepOutcome::done);
}

TEST_F(Steps, ASecretThatTheSiteLacksIsNamedBeforeAnythingRuns) {
  site.file = "site.json";
  site.secrets = {{"variable", {"", "TOKEN"}},
                  {"gone", {folder / "gone", ""}},
                  {"pipe", {"/dev/zero", ""}},
                  {"folder", {folder.path(), ""}}};
  auto problem = [&](const std::string& name) {
    Step& step = add(StepKind::run, add_base());
    step.secrets = {name};
    EXPECT_EQ(run(step.key), StepOutcome::failed);
    EXPECT_EQ(failure(step.key).failure, FailureClass::input);
    return failure(step.key).what;
  };
  EXPECT_EQ(problem("token"),
            "the recipe needs the secret 'token', and the site file does not say where it is");
  EXPECT_EQ(problem("variable"),
            "the secret 'variable' is to be in the environment variable TOKEN, which is not set");
  EXPECT_EQ(problem("gone"),
            "the secret 'gone' is to be in " + (folder / "gone").string() + ", which is not there");
  EXPECT_EQ(problem("pipe"), "the secret 'pipe' is to be in /dev/zero, which is no file of at most 1 MiB");
  EXPECT_EQ(problem("folder"), "the secret 'folder' is to be in " + folder.path().string() +
                                   ", which is no file of at most 1 MiB");
  EXPECT_TRUE(engine.runs.empty());
}

TEST_F(Steps, ARootfsScriptFindsItsSecretsInAFolder) {
  site.secrets = {{"token", {folder.write("token", "s3cr3t\n"), ""}}};
  Step& step = add(StepKind::rootfs, "");
  step.secrets = {"token"};
  runner.respond = [&](const Command& command) {
    EXPECT_EQ(files.read(fs::path(command.environment.at("KILN_SECRETS")) / "token"), "s3cr3t\n");
    EXPECT_EQ(command.hidden, std::vector<std::string>{"s3cr3t"});
    files.write(command.environment.at("KILN_OUTPUT"), "tar");
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
}

TEST_F(Steps, PasswordsOfProxiesAreHidden) {
  environment["https_proxy"] = "http://me:s3cr3t@proxy:3128";
  EXPECT_EQ(run(add(StepKind::run, add_base()).key), StepOutcome::done);
  EXPECT_EQ(engine.runs.at(0).hidden, std::vector<std::string>{"s3cr3t"});
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
  EXPECT_FALSE(engine.runs.at(0).environment.contains("https_proxy"));
  auto bytes = files.read(state.test(step.key)).value();
  TestRecord done = test_record_from_json(JsonDocument::parse(bytes, "t").root());
  EXPECT_EQ(done.last_line, "proved");
  EXPECT_EQ(done.seconds, 3);
  EXPECT_EQ(run(step.key), StepOutcome::up_to_date);
}

TEST_F(Steps, WhatNoScriptListsIsInTheTableOfParameters) {
  EXPECT_EQ(run(add(StepKind::test, add_base()).key), StepOutcome::done);
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
