#include "factory/derive/application.h"

#include <gtest/gtest.h>

#include "factory/recipe/recipe.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

using Names = std::vector<std::string>;

ApplicationInputs inputs_of(const std::string& requirements, const std::string& files,
                            const std::string& run) {
  ApplicationInputs inputs;
  if (!requirements.empty()) inputs.requirements = requirements;
  if (!files.empty()) inputs.files = files;
  inputs.files_at = "/opt/train";
  if (!run.empty()) inputs.run = run;
  return inputs;
}

// As the catalogue reads them.
RecipeBook book_of(const RecipeTexts& recipes) {
  FakeFileSystem files;
  for (const auto& [path, bytes] : recipes) files.files["recipes/" + path] = bytes;
  return RecipeBook::read(files, {"recipes"});
}

TEST(Application, IsARecipeForEachStepUponTheOneBelow) {
  ApplicationInputs inputs = inputs_of("numpy==2.1.0\n", "tar", "echo run\n");
  inputs.test = "echo test\n";
  const RecipeBook book = book_of(application_recipes("train", inputs));
  EXPECT_TRUE(book.broken().empty());
  EXPECT_EQ(book.names(Kind::application), (Names{"train", "train.files", "train.requirements"}));
  const Recipe& train = *book.find(Kind::application, "train");
  ASSERT_EQ(train.methods.front().needs.size(), 1u);
  EXPECT_EQ(train.methods.front().needs.front().name, "train.files");
  EXPECT_EQ(train.files.at(train.methods.front().script).bytes, "echo run\n");
  ASSERT_EQ(train.tests.size(), 1u);
  EXPECT_EQ(train.files.at(train.tests.front().script).bytes, "echo test\n");
  const Recipe& files = *book.find(Kind::application, "train.files");
  EXPECT_EQ(files.methods.front().needs.front().name, "train.requirements");
  EXPECT_EQ(files.versions.front().fact("path"), "/opt/train");
  EXPECT_TRUE(files.tests.empty());
  const Recipe& requirements = *book.find(Kind::application, "train.requirements");
  EXPECT_TRUE(requirements.methods.front().needs.empty());
  EXPECT_EQ(requirements.files.at("requirements.txt").bytes, "numpy==2.1.0\n");
}

TEST(Application, HasOnlyTheStepsThatItNeeds) {
  const RecipeBook book = book_of(application_recipes("train", inputs_of("numpy\n", "", "")));
  EXPECT_TRUE(book.broken().empty());
  EXPECT_EQ(book.names(Kind::application), (Names{"train", "train.requirements"}));
  EXPECT_EQ(book.find(Kind::application, "train")->methods.front().script, "");
  EXPECT_EQ(book_of(application_recipes("train", inputs_of("", "", "echo\n"))).names(Kind::application),
            Names{"train"});
}

// A change of one input leaves the recipes of the steps below it as they are.
TEST(Application, AChangeIsInItsOwnRecipe) {
  const RecipeTexts before = application_recipes("train", inputs_of("a\n", "tar", "echo 1\n"));
  const RecipeTexts after = application_recipes("train", inputs_of("a\n", "tar", "echo 2\n"));
  Names changed;
  for (const auto& [path, bytes] : before)
    if (after.at(path) != bytes) changed.push_back(path);
  EXPECT_EQ(changed, Names{"application/train/run.sh"});
  EXPECT_NE(digest_of(before), digest_of(after));
  EXPECT_EQ(digest_of(before), digest_of(application_recipes("train", inputs_of("a\n", "tar", "echo 1\n"))));
}

TEST(Application, NamesAreThoseThatARegistryTakes) {
  for (const char* name : {"train", "a", "7zip", "my-app_2"}) EXPECT_EQ(refused_name(name), "") << name;
  for (const char* name :
       {"", "Train", "-a", "a-", "a.b", "a/b", "a__b", "a_-b", "a b", "none", "library", "application", "ä"})
    EXPECT_NE(refused_name(name), "") << name;
  EXPECT_EQ(refused_name(std::string(63, 'a')), "");
  EXPECT_NE(refused_name(std::string(64, 'a')), "");
}

}  // namespace
}  // namespace kiln::testing
