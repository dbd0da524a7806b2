// A recipe or target that is wrong is kept apart, and no business of the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/recipe/component_value.h"
#include "factory/recipe/recipe.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

constexpr const char* kWhole = R"({"versions": {"1.0": {}, "2.0": {}}, "methods": {"pip": {}}})";

// A whole recipe whose one method needs this library.
std::string needing(const std::string& name) {
  return fmt::format(
      R"({{"versions": {{"1.0": {{}}}}, "methods": {{"pip": {{"needs": [{{"kind": "library", "name": "{}"}}]}}}}}})",
      name);
}

RecipeBook beside_whole(const std::string& json) {
  return RecipeBook::read(FakeFileSystem({{"recipes/library/whole/recipe.json", kWhole},
                                          {"recipes/library/broken/recipe.json", json}}),
                          {"recipes"});
}

std::string why(const RecipeBook& book, const std::string& library) {
  const BrokenRecipe* broken = book.find_broken(Kind::library, library);
  return broken == nullptr ? "whole, or not there" : broken->why.format();
}

TEST(BrokenRecipes, AreKeptApartAndTheOthersAreRead) {
  for (const char* wrong : {"", "{", "[]", "{}", R"({"versions": {}, "methods": {"pip": {}}})",
                            R"({"versions": {"1.0": {}}, "methods": {"pip": {"script": "absent.sh"}}})",
                            R"({"versions": {"1.0": {}}, "mehtods": {"pip": {}}})"}) {
    RecipeBook book = beside_whole(wrong);
    EXPECT_EQ(book.names(Kind::library), Strings{"whole"}) << wrong;
    EXPECT_EQ(book.find(Kind::library, "broken"), nullptr) << wrong;
    EXPECT_TRUE(why(book, "broken").starts_with("recipes/library/broken/recipe.json:")) << wrong;
    EXPECT_THROW(book.refuse_broken(), Error) << wrong;
  }
}

TEST(BrokenRecipes, TheirVersionsAreKnownWhereThatPartIsWellFormed) {
  auto versions = [](const std::string& json) {
    const RecipeBook book = beside_whole(json);
    return book.find_broken(Kind::library, "broken")->read.versions.size();
  };
  EXPECT_EQ(versions(R"({"versions": {"1.0": {}, "2.0": {}}, "methods": {"pip": {"script": "absent.sh"}}})"),
            2u);
  EXPECT_EQ(versions(R"({"mehtods": {}, "versions": {"1.0": {}, "2.0": {}}})"), 2u);
  EXPECT_EQ(versions(R"({"versions": {"1.0": {}, "2.0": {"fatcs": {}}}, "methods": {"pip": {}}})"), 0u);
  EXPECT_EQ(versions(R"({"versions": {"1.0": {}})"), 0u);
}

TEST(BrokenRecipes, WhatNeedsThemIsWholeAsFarAsItGoes) {
  RecipeBook book = RecipeBook::read(FakeFileSystem({{"recipes/library/a/recipe.json", needing("b")},
                                                     {"recipes/library/b/recipe.json", "{"}}),
                                     {"recipes"});
  EXPECT_EQ(book.names(Kind::library), Strings{"a"});
}

TEST(BrokenRecipes, AreThoseWhoNeedWhatIsNotThereOrEachOtherInACircle) {
  RecipeBook book = RecipeBook::read(FakeFileSystem({{"recipes/library/a/recipe.json", needing("absent")},
                                                     {"recipes/library/b/recipe.json", needing("c")},
                                                     {"recipes/library/c/recipe.json", needing("b")},
                                                     {"recipes/library/d/recipe.json", needing("b")},
                                                     {"recipes/library/whole/recipe.json", kWhole}}),
                                     {"recipes"});
  EXPECT_EQ(book.names(Kind::library), (Strings{"d", "whole"}));
  EXPECT_NE(why(book, "a").find("there is no library 'absent'"), std::string::npos);
  EXPECT_NE(why(book, "b").find("in a circle: library/b needs library/c"), std::string::npos);
  EXPECT_EQ(why(book, "b"), why(book, "c"));
}

TEST(BrokenRecipes, TheLastRootDecidesWhetherOneIsBroken) {
  FakeFileSystem files({{"recipes/library/a/recipe.json", "{"},
                        {"recipes/library/b/recipe.json", kWhole},
                        {"site/library/a/recipe.json", kWhole},
                        {"site/library/b/recipe.json", "{"}});
  RecipeBook book = RecipeBook::read(files, {"recipes", "site"});
  EXPECT_EQ(book.names(Kind::library), Strings{"a"});
  EXPECT_TRUE(why(book, "b").starts_with("site/library/b/recipe.json:"));
}

TEST(BrokenRecipes, FoldersThatAreNoRecipeStopNobody) {
  FakeFileSystem files({{"recipes/library/a/recipe.json", kWhole},
                        {"recipes/library/b/receipe.json", kWhole},
                        {"recipes/frameworks/x/recipe.json", kWhole}});
  RecipeBook book = RecipeBook::read(files, {"recipes"});
  EXPECT_EQ(book.names(Kind::library), Strings{"a"});
  EXPECT_EQ(why(book, "b"),
            "recipes/library/b: error: the folder has no recipe.json; did you mean 'receipe.json'?");
  ASSERT_EQ(book.misplaced().size(), 1u);
  EXPECT_EQ(
      book.misplaced().front().format("warning"),
      "recipes/frameworks: warning: 'frameworks' is not a kind of component; did you mean 'framework'?");
}

TEST(BrokenRecipes, CountAsKnownNames) {
  RecipeBook book = beside_whole("{");
  EXPECT_EQ(known_recipe(book, Kind::library, "broken", {}).name, "broken");
  EXPECT_TRUE(has_unknown_versions(book, Kind::library, "whole+broken"));
  EXPECT_FALSE(has_unknown_versions(book, Kind::library, "whole"));
  EXPECT_FALSE(has_unknown_versions(book, Kind::library, "none"));
}

}  // namespace
}  // namespace kiln::testing
