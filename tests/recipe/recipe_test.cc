#include "factory/recipe/recipe.h"

#include <gtest/gtest.h>

#include "factory/recipe/recipe_needs.h"
#include "support/fake_effects.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

Recipe openblas() { return read_recipe(kRecipe, kRecipeFile, recipe_files()); }

TEST(Kind, NamesAreInLayeringOrder) {
  EXPECT_EQ(kind_names(), (Strings{"base", "toolchain", "library", "framework", "compiler", "distributed",
                                   "runtime", "workload", "application"}));
  EXPECT_EQ(name_of(Kind::compiler), "compiler");
  EXPECT_EQ(kind_from("workload"), Kind::workload);
  EXPECT_EQ(kind_from("Workload"), std::nullopt);
}

TEST(RecipeDraft, ReadsEveryKey) {
  Recipe recipe = openblas();
  EXPECT_EQ(recipe.kind, Kind::library);
  EXPECT_EQ(recipe.name, "openblas");
  EXPECT_EQ(recipe.description, "OpenBLAS in place of the reference BLAS");
  EXPECT_EQ(recipe.licenses, "BSD-3-Clause");
  EXPECT_EQ(recipe.homepage, "https://www.openblas.net");
  EXPECT_EQ(recipe.folder, "recipes/library/openblas");
  EXPECT_EQ(recipe.file, "recipes/library/openblas/recipe.json");
  ASSERT_EQ(recipe.tests.size(), 2u);
  EXPECT_EQ(recipe.tests[0].script, "smoke.sh");
  EXPECT_EQ(recipe.tests[0].files, Strings{"smoke.py"});
  EXPECT_TRUE(recipe.tests[0].when.always());
  EXPECT_EQ(recipe.tests[1].when.target, "zen*");
  EXPECT_EQ(recipe.tests[1].when.version.text(), "0.3.29");
  ASSERT_EQ(recipe.upstream.size(), 2u);
  EXPECT_EQ(recipe.upstream[0].package, "scipy-openblas");
  EXPECT_EQ(recipe.upstream[0].versions.text(), ">=0.3.9 <0.4");
  EXPECT_EQ(recipe.upstream[1].repository, "https://example.org/openblas.git");
  EXPECT_EQ(recipe.upstream[1].tags, "v*");
  EXPECT_TRUE(recipe.upstream[1].versions.is_any());
}

TEST(RecipeDraft, AcceptsAFileWhereItSays) {
  const std::string json = with_mistake(
      kRecipe, R"("test": )",
      R"("accept": [{"file": "*/libo.so", "reason": "asks", "method": "distro", "versions": ">=0.3.10"},
                    {"file": "/opt/p", "reason": "asks too"}], "test": )");
  const Recipe recipe = read_recipe(json, kRecipeFile, recipe_files());
  const AcceptedFile library{"*/libo.so", "asks"}, program{"/opt/p", "asks too"};
  EXPECT_EQ(recipe.accepted(Version("0.3.29"), "distro"), (std::vector{library, program}));
  EXPECT_EQ(recipe.accepted(Version("0.3.29"), "source"), std::vector{program});
  EXPECT_EQ(recipe.accepted(Version("0.3.9"), "distro"), std::vector{program});
  EXPECT_TRUE(openblas().accepted(Version("0.3.29"), "distro").empty());
}

TEST(RecipeDraft, SortsVersionsNewestFirst) {
  Recipe recipe = openblas();
  ASSERT_EQ(recipe.versions.size(), 2u);
  EXPECT_EQ(recipe.versions[0].version.text(), "0.3.29");
  EXPECT_EQ(recipe.versions[0].facts.at("python"), "3.13");
  EXPECT_EQ(recipe.versions[0].source_url, "https://example.org/o.tar.gz");
  EXPECT_TRUE(recipe.versions[0].source_checksum.starts_with("sha256:0123"));
  EXPECT_EQ(recipe.versions[0].where.line, 9);
  EXPECT_EQ(recipe.versions[1].version.text(), "0.3.9");
  EXPECT_EQ(recipe.find_version(Version("0.3.29.0")), &recipe.versions[0]);
  EXPECT_EQ(recipe.find_version(Version("0.3.30")), nullptr);
}

TEST(RecipeDraft, KeepsMethodsInTheFilesOrder) {
  Recipe recipe = openblas();
  ASSERT_EQ(recipe.methods.size(), 2u);
  const Method& distro = recipe.methods[0];
  EXPECT_EQ(distro.name, "distro");
  EXPECT_TRUE(distro.optimised);
  EXPECT_EQ(distro.versions.text(), ">=0.3.10");
  EXPECT_EQ(distro.script, "distro.sh");
  EXPECT_EQ(distro.files, (Strings{"lists/packages.txt", "smoke.py"}));
  EXPECT_EQ(distro.file_when, (std::vector<When>{{}, {VersionRange::parse("0.3.29"), ""}}));
  EXPECT_EQ(distro.parameters, (Strings{"KILN_VERSION", "KILN_FACT_PYTHON", "KILN_FRAMEWORK_VERSION"}));
  ASSERT_EQ(distro.needs.size(), 2u);
  EXPECT_EQ(distro.needs[0].kind, Kind::toolchain);
  EXPECT_EQ(distro.needs[0].name, "python");
  EXPECT_EQ(distro.needs[0].range.text(), ">=3.11");
  EXPECT_EQ(distro.needs[0].where.pointer, "/methods/distro/needs/0/name");
  EXPECT_TRUE(distro.needs[0].any.empty());
  EXPECT_TRUE(distro.needs[0].when.always());
  ASSERT_EQ(distro.needs[1].any.size(), 2u);
  EXPECT_EQ(distro.needs[1].any[0].name, "mkl");
  EXPECT_EQ(distro.needs[1].any[0].when.target, "*,nvidia*");
  EXPECT_EQ(distro.needs[1].any[1].name, "blis");
  EXPECT_EQ(distro.needs[1].when.version.text(), ">=0.3.20");
  EXPECT_EQ(distro.after, (Strings{"framework", "python"}));
  EXPECT_EQ(distro.environment.at("OPENBLAS_VERBOSE").value, "0");
  EXPECT_FALSE(distro.build.has_value());
}

TEST(RecipeDraft, ReadsTheBuildStage) {
  Recipe recipe = openblas();
  const Method* source = recipe.find_method("source");
  ASSERT_NE(source, nullptr);
  EXPECT_FALSE(source->optimised);
  EXPECT_EQ(source->files, Strings{"smoke.py"});
  const Companion gcc = source->file_when.at(0).with.value();
  EXPECT_EQ(gcc.component, ComponentKey(Kind::toolchain, "gcc"));
  EXPECT_EQ(gcc.range.text(), ">=12 <15");
  EXPECT_EQ(gcc.where.pointer, "/methods/source/files/0/when/with");
  EXPECT_EQ(source->script, "");
  EXPECT_TRUE(source->versions.is_any());
  ASSERT_TRUE(source->build.has_value());
  EXPECT_EQ(source->build->script, "build.sh");
  EXPECT_EQ(source->build->copy, Strings{"/opt/kiln/openblas"});
  EXPECT_EQ(source->build->needs.at(0).name, "gcc");
  EXPECT_EQ(recipe.find_method("pip"), nullptr);
}

// kRecipe with `secrets` for the script of its method distro, and for the one of its build stage.
std::string with_secrets(const std::string& of_script, const std::string& of_build) {
  std::string json = kRecipe;
  auto insert_before = [&](std::string_view mark, const std::string& text) {
    json.insert(json.find(mark), text);
  };
  insert_before(R"("files": ["lists)", "\"secrets\": " + of_script + ", ");
  insert_before(R"("copy": ["/opt)", "\"secrets\": " + of_build + ", ");
  return json;
}

TEST(RecipeDraft, NamesTheSecretsOfEachScript) {
  const std::string json = with_secrets(R"(["token", "licence.key"])", R"(["source+token"])");
  EXPECT_TRUE(violations_of_schema("recipe", json).empty());
  Recipe recipe = read_recipe(json, kRecipeFile, recipe_files());
  EXPECT_EQ(recipe.find_method("distro")->secrets, (Strings{"licence.key", "token"}));
  EXPECT_EQ(recipe.find_method("source")->secrets, Strings());
  EXPECT_EQ(recipe.find_method("source")->build->secrets, Strings{"source+token"});
}

TEST(RecipeDraft, RefusesSecretsThatNoScriptGetsOrThatAreTheSites) {
  auto error = [](const std::string& json) {
    return input_error([&] { read_recipe(json, kRecipeFile, recipe_files()); });
  };
  std::string json = with_secrets("[]", "[]");
  json.insert(json.find(R"("build": {)"), R"("secrets": ["token"], )");
  EXPECT_NE(error(json).find("error: this method has no script that reads them (at /methods/source/secrets); "
                             "those of a build stage's script belong in 'build'"),
            std::string::npos);
  for (const char* bad : {"pip.conf", "gitconfig", "ca-certificates.crt"}) {
    const std::string list = "[\"" + std::string(bad) + "\"]";
    EXPECT_NE(error(with_secrets(list, "[]")).find("is the site's own, and every script has it"),
              std::string::npos);
    EXPECT_FALSE(violations_of_schema("recipe", with_secrets(list, "[]")).empty());
  }
  for (const char* bad : {"../x", "", "a b", "a/b", "a,b", "-x"})
    EXPECT_NE(error(with_secrets("[\"" + std::string(bad) + "\"]", "[]")), "") << bad;
}

TEST(RecipeDraft, DeclaresCaches) {
  auto with_cache = [](const std::string& list) {
    std::string json = kRecipe;
    json.insert(json.find(R"("files": ["lists)"), "\"cache\": " + list + ", ");
    return json;
  };
  auto error = [&](const std::string& list) {
    EXPECT_FALSE(violations_of_schema("recipe", with_cache(list)).empty()) << list;
    return input_error([&] { read_recipe(with_cache(list), kRecipeFile, recipe_files()); });
  };
  EXPECT_TRUE(violations_of_schema("recipe", with_cache(R"(["pip", "ccache"])")).empty());
  const Recipe recipe = read_recipe(with_cache(R"(["pip", "ccache"])"), kRecipeFile, recipe_files());
  EXPECT_EQ(recipe.find_method("distro")->cache, (Strings{"ccache", "pip"}));
  EXPECT_EQ(recipe.find_method("source")->cache, Strings());
  EXPECT_NE(error(R"(["cache"])")
                .find("there is no cache 'cache' (at /methods/distro/cache/0); did you mean 'ccache'?"),
            std::string::npos);
  EXPECT_NE(error(R"(["sstate"])")
                .find("there is no cache 'sstate' (at /methods/distro/cache/0); caches: ccache, pip"),
            std::string::npos);
  EXPECT_NE(error(R"(["pip", "pip"])").find("twice"), std::string::npos);
}

TEST(RecipeDraft, RefusesACacheThatNoScriptFinds) {
  EXPECT_NE(input_error([&] {
              read_recipe(R"({"versions": {"1": {}}, "methods": {"distro": {"cache": ["pip"]}}})",
                          kRecipeFile, recipe_files());
            }).find("this method has no script that reads it (at /methods/distro/cache)"),
            std::string::npos);
}

TEST(RecipeDraft, SaysWhatItsStepsNeed) {
  std::string json = kRecipe;
  json.insert(json.find(R"("files": ["lists)"), R"("limits": {"wall": "12h", "memory": "64GiB"}, )");
  EXPECT_EQ(violations_of_schema("recipe", json), Strings());
  const Recipe recipe = read_recipe(json, kRecipeFile, recipe_files());
  EXPECT_EQ(recipe.find_method("distro")->limits,
            (OwnLimits{std::chrono::hours(12), {}, {}, std::uint64_t{64} << 30}));
  EXPECT_EQ(recipe.find_method("source")->limits, OwnLimits{});
}

TEST(RecipeDraft, MayHaveOneTestWithoutAnArray) {
  const std::string json =
      with_mistake(kRecipe,
                   R"([{"script": "smoke.sh", "files": ["smoke.py"]}, )"
                   R"({"script": "distro.sh", "when": {"target": "zen*", "version": "0.3.29"}}])",
                   R"({"script": "smoke.sh"})");
  Recipe recipe = read_recipe(json, kRecipeFile, recipe_files());
  ASSERT_EQ(recipe.tests.size(), 1u);
  EXPECT_EQ(recipe.tests[0].script, "smoke.sh");
}

TEST(RecipeDraft, MayNeedTwoVersionsOfOneThingInDifferentCases) {
  const std::string json = with_mistake(
      kRecipe, R"({"kind": "toolchain", "name": "python", "version": ">=3.11"})",
      R"({"kind": "toolchain", "name": "python", "version": "3.11", "when": {"version": "0.3.9"}},
         {"kind": "toolchain", "name": "python", "version": "3.13", "when": {"version": ">=0.3.10"}})");
  EXPECT_EQ(read_recipe(json, kRecipeFile, recipe_files()).methods[0].needs.size(), 3u);
}

TEST(RecipeDraft, HoldsTheBytesOfEveryFileItNames) {
  Recipe recipe = openblas();
  ASSERT_EQ(recipe.files.size(), 5u);
  const RecipeFile& list = recipe.files.at("lists/packages.txt");
  EXPECT_EQ(list.path, "lists/packages.txt");
  EXPECT_EQ(list.bytes, "libopenblas0\n");
  EXPECT_EQ(list.digest, Digest::of("libopenblas0\n"));
}

TEST(RecipeDraft, ReadsBothSortsOfBase) {
  Recipe debian = read_recipe(kBase, kBaseFile, recipe_files());
  EXPECT_EQ(debian.kind, Kind::base);
  EXPECT_EQ(debian.find_method("distro")->rootfs, "rootfs.sh");
  EXPECT_EQ(debian.find_method("distro")->image, "");
  EXPECT_EQ(debian.find_method("hub")->image, "docker.io/library/debian:{version}");
  EXPECT_EQ(debian.find_method("hub")->script, "trim.sh");
  EXPECT_EQ(debian.find_method("hub")->environment.at("LANG").value, "");
}

TEST(RecipeDraft, NeedsVersionsAndMethods) {
  auto error = [](const std::string& json) {
    return input_error([&] { read_recipe(json, "library/a/recipe.json", FakeFileSystem()); });
  };
  EXPECT_EQ(error(R"({"methods": {"pip": {}}})"),
            "library/a/recipe.json:1:1: error: the key 'versions' is missing");
  EXPECT_EQ(error(R"({"versions": {"1": {}}})"),
            "library/a/recipe.json:1:1: error: the key 'methods' is missing");
  EXPECT_EQ(error(R"({"versions": {}, "methods": {"pip": {}}})"),
            "library/a/recipe.json:1:14: error: expected at least one version, found an empty object (at "
            "/versions)");
  EXPECT_EQ(
      error(R"({"versions": {"1": {}}, "methods": {}})"),
      "library/a/recipe.json:1:36: error: expected at least one method, found an empty object (at /methods)");
  EXPECT_EQ(error("[]"), "library/a/recipe.json:1:1: error: expected an object, found an array");
}

TEST(RecipeDraft, RefusesABadFolder) {
  auto error = [](const std::string& file) {
    return input_error([&] { read_recipe(kBase, file, FakeFileSystem()); });
  };
  EXPECT_EQ(error("libary/a/recipe.json"),
            "libary/a/recipe.json: error: a recipe is in <kind>/<name>/, and 'libary' is not a kind; did "
            "you mean "
            "'library'?");
  EXPECT_EQ(error("things/a/recipe.json"),
            "things/a/recipe.json: error: a recipe is in <kind>/<name>/, and 'things' is not a kind; "
            "kinds: base, "
            "toolchain, library, framework, compiler, distributed, runtime, workload, application");
  const std::string hint = "; letters, digits and _ . - only, and a letter or digit first";
  EXPECT_EQ(error("library/a b/recipe.json"),
            "library/a b/recipe.json: error: the folder's name 'a b' is not a component's name" + hint);
  EXPECT_EQ(error("library/a+b/recipe.json"),
            "library/a+b/recipe.json: error: the folder's name 'a+b' is not a component's name" + hint);
  for (const std::string name : {"none", "framework"})
    EXPECT_EQ(error("library/" + name + "/recipe.json"),
              "library/" + name + "/recipe.json: error: '" + name +
                  "' means something else in a matrix and cannot be a component's name");
}

TEST(BaseReference, FillsInTheVersion) {
  Method method;
  method.image = "docker.io/library/debian:{version}-slim";
  EXPECT_EQ(base_reference(method, Version("13")), "docker.io/library/debian:13-slim");
  method.image = "";
  EXPECT_EQ(base_reference(method, Version("13")), "");
}

}  // namespace
}  // namespace kiln::testing
