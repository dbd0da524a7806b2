// What a step is handed of its site, and of its secrets.
#include <gtest/gtest.h>

#include "support/step_fixture.h"

namespace kiln {
namespace {

class SiteOfSteps : public testing::Steps {};

// What a script in a container finds at these places.
std::string mounted(const ContainerRun& request, const std::string& target) {
  for (const Mount& mount : request.mounts)
    if (mount.target == target) return mount.source;
  return "";
}

TEST_F(SiteOfSteps, TheBasesRecipeSaysHowThisMachineReachesPackages) {
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

TEST_F(SiteOfSteps, SecretsAreMountedForTheStepThatNamesThem) {
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

TEST_F(SiteOfSteps, ASecretThatTheSiteLacksIsNamedBeforeAnythingRuns) {
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
            "the secret 'variable' should be in the environment variable TOKEN, which is not set");
  EXPECT_EQ(problem("gone"),
            "the secret 'gone' should be in " + (folder / "gone").string() + ", which is missing");
  EXPECT_EQ(problem("pipe"), "the secret 'pipe' should be in /dev/zero, which is no file of at most 1 MiB");
  EXPECT_EQ(problem("folder"), "the secret 'folder' should be in " + folder.path().string() +
                                   ", which is no file of at most 1 MiB");
  EXPECT_TRUE(engine.runs.empty());
}

TEST_F(SiteOfSteps, ARootfsScriptFindsItsSecretsInAFolder) {
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

TEST_F(SiteOfSteps, PasswordsOfProxiesAreHidden) {
  environment["https_proxy"] = "http://me:s3cr3t@proxy:3128";
  EXPECT_EQ(run(add(StepKind::run, add_base()).key), StepOutcome::done);
  EXPECT_EQ(engine.runs.at(0).hidden, std::vector<std::string>{"s3cr3t"});
}

}  // namespace
}  // namespace kiln
