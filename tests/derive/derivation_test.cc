#include "factory/derive/derivation.h"

#include <gtest/gtest.h>

#include "factory/recipe/recipe.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::axis;
using testing::FakeFileSystem;
using testing::matrix;
using testing::Resolver;
using testing::TemporaryFolder;
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

using Lines = std::vector<std::string>;

constexpr const char* kName = "train";

ApplicationInputs some_inputs() {
  ApplicationInputs inputs;
  inputs.run = "echo run\n";
  return inputs;
}

class DerivedCells : public ::testing::Test {
 protected:
  DerivedCells() : state_(folder_.path()), store_(state_, files_) {}

  Derivation derivation(const AxisValues& parent) const {
    const RecipeTexts recipes = application_recipes(kName, some_inputs());
    return {kName, wanted().name, {parent}, digest_of(recipes)};
  }

  static Matrix wanted() {
    return matrix({axis("framework", {"pytorch"}), axis("base", {"debian"}), axis("target", {"zen3"})});
  }

  BuildPlan plan_with(const std::vector<Derivation>& derivations) {
    Resolver resolver;
    Matrix matrix = wanted();
    RecipeBook recipes = resolver.input().recipes;
    add_derived_cells(matrix, recipes, derivations, state_, files_,
                      [this](const Error& error) { told_.push_back(error.format("warning")); });
    return plan_matrix(std::move(matrix), {recipes, resolver.input().targets, resolver.input().cpus});
  }

  TemporaryFolder folder_;
  RealFileSystem files_;
  StatePaths state_;
  DerivedStore store_;
  Lines told_;
};

const AxisValues kParent = {{"framework", "pytorch"}, {"base", "debian"}, {"target", "zen3"}};

TEST_F(DerivedCells, AreUponTheStepsOfTheirParent) {
  store_.keep_recipes(application_recipes(kName, some_inputs()));
  const BuildPlan plan = plan_with({derivation(kParent)});
  EXPECT_EQ(told_, Lines{});
  ASSERT_EQ(plan.size(), 2u);
  const ResolvedImage parent = plan.image(0), derived = plan.image(1);
  EXPECT_EQ(derived.repository(), kName);
  EXPECT_EQ(derived.tag(), parent.tag());
  EXPECT_EQ(derived.id(), "train-" + parent.id());
  EXPECT_EQ(derived.parent_key(), parent.key());
  EXPECT_EQ(parent.parent_key(), "");
  auto below = derived.steps();
  ASSERT_EQ(below.size(), parent.steps().size() + 1);
  below.pop_back();
  for (std::size_t i = 0; i < below.size(); ++i)
    EXPECT_EQ(plan.steps().hex(below[i]), plan.steps().hex(parent.steps()[i]));
  const auto labels = derived.spec().labels;
  EXPECT_EQ(labels.at(kParentKeyLabel), parent.key());
  EXPECT_EQ(labels.at("io.kiln.application"), kName);
  EXPECT_EQ(labels.at("io.kiln.framework"), "pytorch");
  EXPECT_EQ(labels.at("org.opencontainers.image.title").substr(0, 15), "train: pytorch ");
}

TEST_F(DerivedCells, PassesOverWhatIsGone) {
  const BuildPlan without_recipes = plan_with({derivation(kParent)});
  EXPECT_EQ(without_recipes.size(), 1u);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_.front().find("the application's recipes are missing"), std::string::npos);
  told_.clear();
  store_.keep_recipes(application_recipes(kName, some_inputs()));
  AxisValues gone = kParent;
  gone["target"] = "zen4";
  EXPECT_EQ(plan_with({derivation(gone)}).size(), 1u);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_.front().find("no longer has the cell pytorch-zen4-debian"), std::string::npos);
}

TEST_F(DerivedCells, OfDamagedRecipesAreLeftOutUntilTheyAreDerivedAgain) {
  const RecipeTexts recipes = application_recipes(kName, some_inputs());
  store_.keep_recipes(recipes);
  store_.record(derivation(kParent));
  const fs::path script = state_.derived_recipes(digest_of(recipes).hex()) / "application/train/run.sh";
  ASSERT_TRUE(files_.exists(script));
  for (const char* bytes : {"echo ruin\n", ""}) {
    files_.write(script, bytes);
    told_.clear();
    EXPECT_EQ(plan_with({derivation(kParent)}).size(), 1u);
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_NE(told_.front().find("are damaged; derive the application again"), std::string::npos)
        << told_.front();
    EXPECT_EQ(store_.damage().size(), 1u);
    store_.keep_recipes(recipes);
    EXPECT_EQ(plan_with({derivation(kParent)}).size(), 2u);
    EXPECT_TRUE(store_.damage().empty());
  }
  files_.write(script.parent_path() / "more.sh", "true\n");
  EXPECT_EQ(plan_with({derivation(kParent)}).size(), 1u) << "a file more";
}

TEST_F(DerivedCells, OfAnotherMatrixAreNoneOfThis) {
  store_.keep_recipes(application_recipes(kName, some_inputs()));
  Derivation other = derivation(kParent);
  other.matrix = "other";
  EXPECT_EQ(plan_with({other}).size(), 1u);
  EXPECT_EQ(told_, Lines{});
}

TEST_F(DerivedCells, RecordsAreReadAsTheyWereWritten) {
  const auto damaged = [this](const Error& error) { told_.push_back(error.format()); };
  EXPECT_TRUE(store_.all(damaged).empty());
  store_.record(derivation(kParent));
  EXPECT_EQ(store_.all(damaged), std::vector<Derivation>{derivation(kParent)});
  EXPECT_EQ(told_, Lines{});
  files_.write(state_.derived("bad"), R"({"schema": 1, "name": "bad", "matrix": "m", "parents": []})");
  EXPECT_EQ(store_.all(damaged).size(), 1u);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_.front().find("bad.json:1:"), std::string::npos);
  EXPECT_TRUE(store_.has("bad")) << "so that it can be removed";
  EXPECT_FALSE(store_.has("gone"));
  EXPECT_FALSE(store_.has("../derived/bad"));
  files_.write(state_.derived("bad"), to_json(derivation(kParent)).dump());
  told_.clear();
  EXPECT_EQ(store_.all(damaged).size(), 1u);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_.front().find("bad.json: error: the record is of the name 'train'"), std::string::npos)
      << told_.front();
  store_.forget(kName);
  store_.forget(kName);
  EXPECT_TRUE(store_.all(damaged).empty());
}

TEST_F(DerivedCells, UnusedRecipesGo) {
  const RecipeTexts recipes = application_recipes(kName, some_inputs());
  ApplicationInputs changed = some_inputs();
  changed.test = "true\n";
  store_.keep_recipes(recipes);
  store_.keep_recipes(application_recipes(kName, changed));
  store_.record(derivation(kParent));
  files_.write(state_.derived_recipes() / ".killed" / "x", "half");
  store_.drop_unused();
  EXPECT_EQ(files_.list(state_.derived_recipes()), Lines{digest_of(recipes).hex()});
  // A record that cannot be read may name any of them.
  store_.keep_recipes(application_recipes(kName, changed));
  files_.write(state_.derived(kName), "{");
  store_.drop_unused();
  EXPECT_EQ(files_.list(state_.derived_recipes()).size(), 2u);
}

}  // namespace
}  // namespace kiln
