// A state folder, a recipe and an engine that is a folder: for tests of single steps.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/run/script.h"
#include "factory/run/step.h"
#include "support/fake_effects.h"
#include "support/folder_engine.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

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
  FakeCommandRunner runner;
  FakeClock clock;
  FolderEngine engine;
  std::map<std::string, std::string> environment = {
      {"PATH", "/usr/bin:/bin"}, {"HOME", "/home/me"}, {"https_proxy", "p"}};
};

}  // namespace kiln::testing
