// Provenance of a planned image, and what the bill of materials says of kiln's own components.
#include "factory/sbom/provenance.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln::sbom {
namespace {

Step step(char key, StepKind kind, const std::string& component, const Json& inputs) {
  Step step;
  step.key = std::string(64, key);
  step.kind = kind;
  step.component = component;
  step.version = "1.0";
  step.title = component;
  step.inputs = inputs.dump();
  return step;
}

class ProvenanceTest : public ::testing::Test {
 protected:
  ProvenanceTest() {
    Step base = step('a', StepKind::pull, "base/debian", {{"digest", "sha256:" + std::string(64, '1')}});
    base.reference = "docker.io/library/debian@sha256:" + std::string(64, '1');
    base.tagged = "docker.io/library/debian:13";
    Step run = step('b', StepKind::run, "library/openblas",
                    {{"script", {{"name", "source.sh"}, {"digest", "sha256:" + std::string(64, '2')}}},
                     {"files", {{"fix.patch", "sha256:" + std::string(64, '3')}}}});
    run.parameters = {{"KILN_SOURCE_URL", "https://host.example/openblas.tar.gz"},
                      {"KILN_SOURCE_CHECKSUM", "sha256:" + std::string(64, '4')}};
    image.repository = "openblas";
    image.tag = "1.0-source";
    image.key = std::string(64, 'c');
    image.request.id = "openblas-source";
    image.request.axes = {{"library", "openblas"}};
    image.components = {{Kind::base, "debian", Version("13"), "hub"},
                        {Kind::library, "openblas", Version("1.0"), "source", true}};
    image.flags = {{"CFLAGS", "-O2 -march=haswell", "gcc 14.2.0", "haswell"}};
    image.stages = {{"image", {base, run}}};
    origin.components["library/openblas"] = {"BSD-3-Clause", "https://www.openblas.net/"};
    origin.repositories = {{"git+https://host.example/recipes", std::string(40, '5'), true}};
  }

  Json provenance() {
    return Json::parse(to_provenance({image, "demo", origin, Digest::of("manifest"), Digest::of("evidence"),
                                      0, "https://ci.example/", "0.1", "0.2.7"}));
  }

  ImageSpec image;
  RecipeOrigin origin;
};

TEST_F(ProvenanceTest, IsAStatementAboutTheManifest) {
  Json statement = provenance();
  EXPECT_EQ(statement["_type"], "https://in-toto.io/Statement/v1");
  EXPECT_EQ(statement["predicateType"], "https://slsa.dev/provenance/v1");
  EXPECT_EQ(statement["subject"][0]["digest"]["sha256"], Digest::of("manifest").hex());
  const Json& run = statement["predicate"]["runDetails"];
  EXPECT_EQ(run["builder"]["id"], "https://ci.example/");
  EXPECT_EQ(run["metadata"]["startedOn"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(run["byproducts"][0]["digest"]["sha256"], Digest::of("evidence").hex());
}

TEST_F(ProvenanceTest, NamesEverythingThatTheBuildRead) {
  Json found = Json::object();
  Json statement = provenance();
  for (const Json& resource : statement["predicate"]["buildDefinition"]["resolvedDependencies"])
    found[resource["name"].get<std::string>()] = resource;
  EXPECT_EQ(found["recipes"]["digest"]["gitCommit"], std::string(40, '5'));
  EXPECT_EQ(found["recipes"]["annotations"]["modified"], true);
  EXPECT_EQ(found["docker.io/library/debian:13"]["digest"]["sha256"], std::string(64, '1'));
  EXPECT_EQ(found["recipes/library/openblas/source.sh"]["digest"]["sha256"], std::string(64, '2'));
  EXPECT_EQ(found["recipes/library/openblas/fix.patch"]["digest"]["sha256"], std::string(64, '3'));
  EXPECT_EQ(found["library/openblas@1.0"]["uri"], "https://host.example/openblas.tar.gz");
  EXPECT_EQ(found["library/openblas@1.0"]["digest"]["sha256"], std::string(64, '4'));
  EXPECT_EQ(found.size(), 5u);
}

TEST_F(ProvenanceTest, SaysWhatWasAskedForAndWithWhichFlags) {
  Json definition = provenance()["predicate"]["buildDefinition"];
  EXPECT_EQ(definition["externalParameters"]["cell"], "openblas-source");
  EXPECT_EQ(definition["externalParameters"]["axes"]["library"], "openblas");
  EXPECT_EQ(definition["internalParameters"]["flags"][0]["compiler"], "gcc 14.2.0");
  EXPECT_EQ(definition["internalParameters"]["steps"][1]["key"], std::string(64, 'b'));
}

TEST_F(ProvenanceTest, ComponentsHaveTheirSourcesAndLicences) {
  auto components = components_of(image, origin);
  ASSERT_EQ(components.size(), 2u);
  EXPECT_TRUE(components[0].license.empty());
  EXPECT_EQ(components[1].license.expression, "BSD-3-Clause");
  EXPECT_EQ(components[1].checksum, "sha256:" + std::string(64, '4'));
}

TEST_F(ProvenanceTest, AnOriginComesBackFromJson) {
  JsonDocument document = JsonDocument::parse(to_json(origin).dump(), "origin");
  RecipeOrigin read = recipe_origin_from_json(document.root());
  EXPECT_EQ(read.repositories, origin.repositories);
  EXPECT_EQ(read.components.at("library/openblas").licenses, "BSD-3-Clause");
}

// The real git: a commit, then an edit beside it.
TEST(RecipeOriginTest, OfAGitWorkTree) {
  kiln::testing::TemporaryFolder folder;
  RealCommandRunner runner;
  if (!runner.find_program("git")) GTEST_SKIP();
  fs::path root = folder / "recipes";
  folder.write("recipes/base/x/recipe.json", "{}");
  std::map<std::string, std::string> environment{{"PATH", std::getenv("PATH")},
                                                 {"HOME", folder.path().string()}};
  auto git = [&](std::vector<std::string> arguments) {
    Command command;
    command.argv = {"git", "-C", root.string(), "-c", "user.name=x", "-c", "user.email=x@example.org"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = environment;
    return runner.run(command).ok();
  };
  RecipeBook recipes;
  Recipe component;
  component.kind = Kind::base;
  component.name = "x";
  component.folder = root / "base" / "x";
  recipes.add(component);
  EXPECT_TRUE(find_origin(recipes, runner, environment).repositories.empty());
  ASSERT_TRUE(git({"init", "-q"}));
  ASSERT_TRUE(git({"add", "."}));
  ASSERT_TRUE(git({"commit", "-qm", "one"}));
  ASSERT_TRUE(git({"remote", "add", "origin", "https://me:secret@host.example/r.git"}));
  auto repositories = find_origin(recipes, runner, environment).repositories;
  ASSERT_EQ(repositories.size(), 1u);
  EXPECT_EQ(repositories[0].uri, "git+https://host.example/r.git");
  EXPECT_EQ(repositories[0].commit.size(), 40u);
  EXPECT_FALSE(repositories[0].modified);
  folder.write("recipes/base/x/new.sh", "true");
  EXPECT_TRUE(find_origin(recipes, runner, environment).repositories[0].modified);
}

}  // namespace
}  // namespace kiln::sbom
