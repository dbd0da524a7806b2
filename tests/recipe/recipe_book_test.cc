#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/recipe/recipe.h"
#include "support/fake_effects.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

// A recipe of version 1.0 whose one method has `body`.
std::string recipe(const std::string& body) {
  return fmt::format("{{\"versions\": {{\"1.0\": {{}}}},\n \"methods\": {{\"pip\": {{{}}}}}}}", body);
}

std::string needs(const std::string& kind, const std::string& name, const std::string& range = "*") {
  return fmt::format(R"("needs": [{{"kind": "{}", "name": "{}", "version": "{}"}}])", kind, name, range);
}

// All of it whole, or the first error.
RecipeBook read(const FakeFileSystem& files, const std::vector<fs::path>& roots = {"recipes"}) {
  RecipeBook book = RecipeBook::read(files, roots);
  book.refuse_broken();
  return book;
}

TEST(RecipeBook, ReadsEveryFolder) {
  FakeFileSystem files({{"recipes/README.md", "stray"},
                        {"recipes/.cache/x", "hidden"},
                        {"recipes/library/notes.txt", "stray"},
                        {"recipes/library/a/recipe.json", recipe("")},
                        {"recipes/library/b/recipe.json", recipe(needs("library", "a", ">=1"))},
                        {"recipes/framework/a/recipe.json", recipe(R"("after": ["b", "toolchain"])")}});
  files.folders.insert("recipes/library/begun");
  RecipeBook book = read(files);
  EXPECT_EQ(book.all().size(), 3u);
  EXPECT_EQ(book.names(Kind::library), (Strings{"a", "b"}));
  EXPECT_EQ(book.names(Kind::compiler), Strings());
  ASSERT_NE(book.find(Kind::framework, "a"), nullptr);
  EXPECT_EQ(book.find(Kind::framework, "a")->file, "recipes/framework/a/recipe.json");
  EXPECT_EQ(book.find(Kind::framework, "b"), nullptr);
}

TEST(RecipeBook, LaterRootsWin) {
  FakeFileSystem files({{"recipes/library/a/recipe.json", recipe("")},
                        {"recipes/library/b/recipe.json", recipe("")},
                        {"site/library/a/recipe.json", recipe(needs("library", "b"))}});
  RecipeBook book = read(files, {"recipes", "site"});
  EXPECT_EQ(book.find(Kind::library, "a")->file, "site/library/a/recipe.json");
  EXPECT_EQ(book.find(Kind::library, "b")->file, "recipes/library/b/recipe.json");
}

TEST(RecipeBook, NamesOfAKindNeedNoReading) {
  FakeFileSystem files({{"recipes/compiler/b/recipe.json", "not JSON"},
                        {"recipes/compiler/a/recipe.json", ""},
                        {"recipes/compiler/begun/install.sh", ""},
                        {"recipes/library/c/recipe.json", ""},
                        {"site/compiler/a/recipe.json", ""}});
  EXPECT_EQ(recipe_names(files, {"recipes", "absent", "site"}, Kind::compiler), (Strings{"a", "b"}));
}

// Of framework/a, which names what is shared.
const RecipeFile& file_of(const RecipeBook& book, const std::string& path) {
  return book.find(Kind::framework, "a")->files.at(path);
}

TEST(SharedFiles, AreFoundUnderTheirPlainName) {
  FakeFileSystem files(
      {{"recipes/shared/model.py", "model"},
       {"recipes/shared/mpi/ring.sh", "ring"},
       {"recipes/framework/a/own.txt", "own"},
       {"recipes/framework/a/recipe.json",
        recipe(R"("script": "shared:mpi/ring.sh", "files": ["own.txt", "shared:model.py"])")}});
  RecipeBook book = read(files);
  const Method& method = book.find(Kind::framework, "a")->methods[0];
  EXPECT_EQ(method.script, "ring.sh");
  EXPECT_EQ(method.files, (Strings{"own.txt", "model.py"}));
  EXPECT_EQ(file_of(book, "ring.sh").bytes, "ring");
  EXPECT_EQ(file_of(book, "ring.sh").source, "recipes/shared/mpi/ring.sh");
  EXPECT_EQ(file_of(book, "model.py").digest, Digest::of("model"));
  EXPECT_EQ(file_of(book, "own.txt").source, "recipes/framework/a/own.txt");
}

TEST(SharedFiles, OfTheLastRootThatHasThemCount) {
  const std::string names = recipe(R"("files": ["shared:both", "shared:stock", "shared:site"])");
  FakeFileSystem files({{"recipes/framework/a/recipe.json", names},
                        {"recipes/shared/both", "stock"},
                        {"recipes/shared/stock", "stock"},
                        {"site/shared/both", "site"},
                        {"site/shared/site", "site"}});
  RecipeBook book = read(files, {"recipes", "site"});
  EXPECT_EQ(file_of(book, "both").source, "site/shared/both");
  EXPECT_EQ(file_of(book, "stock").source, "recipes/shared/stock");
  EXPECT_EQ(file_of(book, "site").source, "site/shared/site");
}

TEST(SharedFiles, ARecipeOfOneRootMayNameThoseOfAnother) {
  FakeFileSystem files({{"recipes/shared/stock", "stock"},
                        {"site/framework/a/recipe.json", recipe(R"("files": ["shared:stock"])")}});
  EXPECT_EQ(file_of(read(files, {"recipes", "site"}), "stock").source, "recipes/shared/stock");
}

TEST(SharedFiles, AreRefusedAtTheirPlace) {
  auto error = [](const std::string& body) {
    FakeFileSystem files({{"recipes/shared/model.py", "model"},
                          {"recipes/shared/b/model.py", "other"},
                          {"recipes/framework/a/b/model.py", "own"},
                          {"recipes/framework/a/recipe.json", recipe("\n\"files\": [" + body + "]")}});
    return input_error([&] { read(files); }).substr(std::string("recipes/framework/a/recipe.json:").size());
  };
  EXPECT_EQ(error(R"("shared:modle.py")"),
            "3:11: error: there is no file 'recipes/shared/modle.py' (at /methods/pip/files/0); did you mean "
            "'model.py'?");
  EXPECT_EQ(error(R"("model.py")"),
            "3:11: error: there is no file 'recipes/framework/a/model.py' (at /methods/pip/files/0); "
            "recipes/shared/model.py is 'shared:model.py'");
  EXPECT_EQ(
      error(R"("shared:b/model.py", "shared:model.py")"),
      "3:32: error: the scripts would find recipes/shared/b/model.py and recipes/shared/model.py as one "
      "file 'model.py' (at /methods/pip/files/1); give one of them another name");
  for (const char* bad : {"shared:", "shared:/model.py", "shared:../a/recipe.json", "shared:b//../model.py",
                          "shared:b/", "shared:-x", "shared:a b"})
    EXPECT_NE(error('"' + std::string(bad) + '"').find("expected a file of the shared folder"),
              std::string::npos)
        << bad;
}

TEST(RecipeBook, RefusesWhatIsNoRecipe) {
  auto error = [](const std::string& file) {
    FakeFileSystem files;
    files.files[file] = "{}";
    return input_error([&] { read(files); });
  };
  EXPECT_EQ(error("elsewhere/x"), "recipes: error: there is no such folder of recipes");
  EXPECT_EQ(error("recipes/frameworks/a/recipe.json"),
            "recipes/frameworks: error: 'frameworks' is not a kind of component; did you mean 'framework'?");
  EXPECT_EQ(
      error("recipes/stuff/a/recipe.json"),
      "recipes/stuff: error: 'stuff' is not a kind of component; kinds: base, toolchain, library, framework, "
      "compiler, distributed, runtime, workload, application");
  EXPECT_EQ(error("recipes/library/a/receipe.json"),
            "recipes/library/a: error: the folder has no recipe.json; did you mean 'receipe.json'?");
  EXPECT_EQ(error("recipes/library/a/install.sh"), "recipes/library/a: error: the folder has no recipe.json");
}

// What is wrong with library/a, which has `body`, beside library/openblas and toolchain/gcc.
std::string error_of(const std::string& body) {
  FakeFileSystem files({{"recipes/library/a/recipe.json", recipe(body)},
                        {"recipes/library/openblas/recipe.json", recipe("")},
                        {"recipes/toolchain/gcc/recipe.json", recipe("")}});
  files.files["recipes/library/a/x.sh"] = "true\n";
  return input_error([&] { read(files); });
}

TEST(RecipeBook, RefusesNeedsThatNothingMeets) {
  EXPECT_EQ(error_of(needs("library", "openblass")),
            "recipes/library/a/recipe.json:2:60: error: there is no library 'openblass' (at "
            "/methods/pip/needs/0/name); did you mean 'openblas'?");
  EXPECT_EQ(
      error_of(needs("library", "gcc")),
      "recipes/library/a/recipe.json:2:60: error: there is no library 'gcc' (at /methods/pip/needs/0/name); "
      "there is a toolchain/gcc");
  EXPECT_EQ(error_of(needs("toolchain", "gcc", ">=12")),
            "recipes/library/a/recipe.json:2:62: error: no version of toolchain/gcc is in '>=12' (at "
            "/methods/pip/needs/0/name); the newest is 1.0 (recipes/toolchain/gcc/recipe.json)");
  EXPECT_EQ(error_of(R"("build": {"script": "x.sh", "copy": ["/opt"], )" + needs("toolchain", "g") + "}"),
            "recipes/library/a/recipe.json:2:108: error: there is no toolchain 'g' (at "
            "/methods/pip/build/needs/0/name)");
}

TEST(RecipeBook, RefusesAnAfterThatNamesNothing) {
  EXPECT_EQ(error_of(R"("after": ["framework", "opnblas"])"),
            "recipes/library/a/recipe.json:2:45: error: 'opnblas' is neither a kind nor a component (at "
            "/methods/pip/after/1); did you mean 'openblas'?");
}

TEST(RecipeBook, RefusesAVariableWithAComponentThatIsNot) {
  auto with = [](const std::string& component) {
    return error_of(R"("environment": {"X": {"value": "1", "with": ")" + component + R"("}})");
  };
  EXPECT_EQ(with("library/opnblas"),
            "recipes/library/a/recipe.json:2:66: error: there is no library 'opnblas' (at "
            "/methods/pip/environment/X/with); did you mean 'openblas'?");
  EXPECT_EQ(with("library/gcc"),
            "recipes/library/a/recipe.json:2:66: error: there is no library 'gcc' (at "
            "/methods/pip/environment/X/with); there is a toolchain/gcc");
  EXPECT_EQ(with("toolchain/gcc"), "no error");
  EXPECT_EQ(with("toolchain/gcc@12"),
            "recipes/library/a/recipe.json:2:66: error: no version of toolchain/gcc is in '12' (at "
            "/methods/pip/environment/X/with); the newest is 1.0 (recipes/toolchain/gcc/recipe.json)");
  EXPECT_EQ(with("toolchain/gcc@<2"), "no error");
}

TEST(RecipeBook, RefusesAFileWithAComponentThatIsNot) {
  auto with = [](const std::string& component) {
    return error_of(R"("files": [{"file": "x.sh", "when": {"with": ")" + component + R"("}}])");
  };
  EXPECT_EQ(with("toolchain/gc"),
            "recipes/library/a/recipe.json:2:66: error: there is no toolchain 'gc' (at "
            "/methods/pip/files/0/when/with); did you mean 'gcc'?");
  EXPECT_EQ(with("toolchain/gcc@>1"),
            "recipes/library/a/recipe.json:2:66: error: no version of toolchain/gcc is in '>1' (at "
            "/methods/pip/files/0/when/with); the newest is 1.0 (recipes/toolchain/gcc/recipe.json)");
  EXPECT_EQ(with("toolchain/gcc@1"), "no error");
}

TEST(RecipeBook, TellsACircleOfNeeds) {
  FakeFileSystem files(
      {{"recipes/framework/f/recipe.json", recipe(needs("library", "a"))},
       {"recipes/library/a/recipe.json", recipe(needs("library", "b"))},
       {"recipes/library/b/recipe.json", recipe(needs("toolchain", "c"))},
       {"recipes/toolchain/c/recipe.json",
        recipe(R"("build": {"script": "c.sh", "copy": ["/opt/c"],)" + needs("library", "a") + "}")},
       {"recipes/toolchain/c/c.sh", "true\n"}});
  EXPECT_EQ(input_error([&] { read(files); }),
            "recipes/toolchain/c/recipe.json:2:107: error: components need each other in a circle: "
            "toolchain/c needs "
            "library/a (recipes/toolchain/c/recipe.json:2:107) needs library/b "
            "(recipes/library/a/recipe.json:2:60) "
            "needs toolchain/c (recipes/library/b/recipe.json:2:62) (at /methods/pip/build/needs/0/name)");
}

TEST(RecipeBook, TellsAComponentThatNeedsItself) {
  EXPECT_EQ(
      error_of(needs("library", "a")),
      "recipes/library/a/recipe.json:2:60: error: components need each other in a circle: library/a needs "
      "library/a (recipes/library/a/recipe.json:2:60) (at /methods/pip/needs/0/name)");
}

TEST(RecipeBook, ALongCircleIsFoundWithoutRecursionAndToldInShort) {
  FakeFileSystem files;
  constexpr int kMany = 5000;
  for (int i = 0; i < kMany; ++i)
    files.files[fmt::format("recipes/library/l{:04}/recipe.json", i)] =
        recipe(needs("library", fmt::format("l{:04}", (i + 1) % kMany)));
  std::string error = input_error([&] { read(files); });
  EXPECT_NE(error.find("circle: library/l0000 needs library/l0001 (recipes/library/l0000/recipe.json:2:"),
            std::string::npos);
  EXPECT_NE(error.find(" needs … (4979 more) needs library/l0000 (recipes/library/l4999/recipe.json:2:"),
            std::string::npos)
      << error;
  EXPECT_LT(error.size(), 3000u);
}

TEST(RecipeBook, TakesTheSameNeedByTwoWays) {
  FakeFileSystem files(
      {{"recipes/framework/f/recipe.json",
        recipe(R"("needs": [{"kind": "library", "name": "a"}, {"kind": "library", "name": "b"}])")},
       {"recipes/library/a/recipe.json", recipe(needs("library", "b"))},
       {"recipes/library/b/recipe.json", recipe("")}});
  EXPECT_EQ(read(files).all().size(), 3u);
}

}  // namespace
}  // namespace kiln::testing
