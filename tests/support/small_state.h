// A state folder in which kiln really builds, tests, packages and publishes two images of three steps; only
// ninja and the engine are stand-ins: edges run in this process, one after the other, and containers are
// folders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/run/build.h"
#include "factory/run/package_cell.h"
#include "factory/run/publish.h"
#include "factory/run/step.h"
#include "factory/state/record_store.h"
#include "support/fake_effects.h"
#include "support/folder_engine.h"
#include "support/memory_folder.h"
#include "support/plan_fixture.h"
#include "support/tar_bytes.h"

namespace kiln::testing {

class SmallState {
 public:
  SmallState() {
    site.ca_certificates = "";
    site.pip_configuration = (folder.path() / "pip.conf").string();
    files.write(site.pip_configuration, "");
    runner.respond = [this](const Command& command) { return respond(command); };
    engine.on_start = [this](const StepRecord& parent) { import(parent); };
    engine.script = [this](const fs::path& root, const ContainerRun& request) { return run(root, request); };
  }

  BuildReport build() {
    Progress progress(
        ProgressStyle::none, clock, [](const std::string&) {}, false);
    BuildSetup setup{plan, all_images(plan), recipes, site, state, files, runner, clock, {}};
    ran.clear();
    return kiln::build(setup, {1, true, "/usr/bin/kiln"}, progress);
  }
  // Its recipes ask for something else of what is installed.
  void change_test(const std::string& script) {
    made.back() = hello(script);
    recipes = book(made);
    plan = plan_of(recipes);
  }
  Published publish() { return publish_built(plan, all_images(plan), state, files, clock); }
  // As `kiln step --image` does; false when it failed.
  bool package(const ResolvedImage& image) {
    return !package_cell(
        {image.spec(), plan.name(), site, state, files, clock, archspec(), {}, "0.1", "0.2"});
  }

  MemoryFolder folder;
  StatePaths state{folder.path() / "state"};
  RealFileSystem files;
  FakeClock clock;
  FakeCommandRunner runner;
  FolderEngine engine;
  Site site;
  std::vector<RecipeDraft> made = {RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs("make it"),
                                   hello("try it")};
  RecipeBook recipes = book(made);
  BuildPlan plan = plan_of(recipes);
  std::vector<std::string>
      ran;  // by the last build: "rootfs debian", "run hello 1", "test hello 1", "image 1"
  std::string archive = "of today";  // what the base is made of
  std::string failing;               // the version whose tests fail
  std::string said = "it says so";   // the last line of a test

 private:
  static RecipeDraft hello(const std::string& test) {
    return RecipeDraft(Kind::framework, "hello", {"2", "1"})
        .method("distro", "install", {"KILN_VERSION"})
        .test(test);
  }
  static BuildPlan plan_of(const RecipeBook& recipes) {
    TargetBook targets(archspec());
    return plan_matrix(matrix({axis("framework", {"hello"}), axis("version", {"1", "2"}),
                               axis("base", {"debian"}), axis("target", {"x86_64"})}),
                       {recipes, targets, archspec()});
  }

  CommandResult respond(const Command& command) {
    if (command.argv.front() == "ninja") {
      for (std::size_t number = 0; number < plan.size(); ++number) make(plan.image(number));
    } else {
      files.write(command.environment.at("KILN_OUTPUT"), "base " + archive);
    }
    return {};
  }

  // What ninja does for an image: the edges whose outputs are not there.
  void make(const ResolvedImage& image) {
    for (StepTable::Number number : image.steps())
      if (!make(plan.steps().step(number), state.step(plan.steps().hex(number)))) return;
    for (StepTable::Number number : image.tests())
      if (!make(plan.steps().step(number), state.test(plan.steps().hex(number)))) return;
    if (files.exists(state.built(image.record_name()))) return;
    ran.push_back("image " + image.tag().substr(0, image.tag().find('-')));
    package(image);
  }

  bool make(const Step& step, const fs::path& record) {
    if (files.exists(record)) return true;
    StepSetup setup{site, state, files, runner, clock, {{"PATH", "/bin"}}, {}};
    setup.recipe_folders[step.component] = state.recipes(plan.name()) / step.component;
    ran.push_back(std::string(name_of(step.kind)) + " " + step.title.substr(0, step.title.rfind(' ')));
    return run_step(step, setup, engine) != StepOutcome::failed;
  }

  // Engines hold what they import against its digests.
  void import(const StepRecord& parent) const {
    for (const BuiltLayer& layer : parent.chain.layers)
      if (!has_bytes_of(BlobStore::reading(state.store()).path(layer.blob.digest), layer.blob.digest))
        throw Error(ExitCode::store, "cannot give the layers to the engine");
  }

  CommandResult run(const fs::path& root, const ContainerRun& request) {
    auto version = request.environment.find("KILN_VERSION");
    const bool is_test = !request.network;
    if (is_test && version != request.environment.end() && version->second == failing)
      return {CommandEnd::exited, 1, "", "it does not say what it should", 0};
    if (is_test && request.on_line) request.on_line(said);
    if (request.network && version != request.environment.end())
      files.write(root / "opt/hello", "hello " + version->second);
    return {};
  }
};

}  // namespace kiln::testing
