#include "factory/app/deriving.h"

#include <gtest/gtest.h>

#include "factory/state/record_store.h"
#include "support/built_image.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

using Lines = std::vector<std::string>;

Matrix two_cells() {
  return matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}), axis("base", {"debian"}),
                 axis("method", {"distro", "pip"}), axis("target", {"x86_64_v3"})});
}

// A state folder and an index in memory. Containers are records that are written at once.
class FakeDeriving final : public DerivingParts {
 public:
  FakeDeriving(const StatePaths& state, FileSystem& files) : state_(state), files_(files) {}

  Catalogue plain() override { return plan(two_cells(), resolver_.input().recipes); }
  Catalogue with_derived(const Derivation* tried) override {
    std::vector<Derivation> all = DerivedStore(state_, files_).all([](const Error&) {});
    if (tried != nullptr) {
      std::erase_if(all, [&](const Derivation& one) { return one.name == tried->name; });
      all.push_back(*tried);
    }
    Matrix wanted = two_cells();
    RecipeBook recipes = resolver_.input().recipes;
    add_derived_cells(wanted, recipes, all, state_, files_,
                      [](const Error& error) { ADD_FAILURE() << error.format(); });
    Catalogue made = plan(std::move(wanted), recipes);
    if (on_plan) on_plan(made);
    return made;
  }
  std::vector<IndexEntry> entries() override { return published; }
  std::vector<IndexEntry> entries_of(const std::string& application) override {
    std::vector<IndexEntry> found = published;
    std::erase_if(found, [&](const IndexEntry& one) { return one.image.application != application; });
    return found;
  }
  std::vector<TagSpan> history(const ImageRecord&) override { return spans; }
  std::optional<ImageRecord> find(const std::string& image) override {
    const auto found = images.find(image);
    return found == images.end() ? std::nullopt : std::optional(found->second);
  }
  BuildReport build(const Catalogue& catalogue, const ImageNumbers& numbers) override {
    BuildReport report;
    for (const std::uint32_t number : numbers) {
      const ResolvedImage image = catalogue.plan.image(number);
      ImageOutcome outcome;
      outcome.id = image.id();
      outcome.outcome = fails ? Outcome::failed : Outcome::built;
      if (!fails) make(image, catalogue.plan);
      built.push_back(image.id());
      report.images.push_back(outcome);
    }
    return report;
  }
  void note(const std::string& line) override { notes.push_back(line); }

  // As a build leaves an image whose tests passed.
  ImageRecord make(const ResolvedImage& image, const BuildPlan& plan) {
    for (const StepTable::Number test : image.tests()) {
      TestRecord record;
      record.key = plan.steps().hex(test);
      RecordWriter(state_, files_).write(record);
    }
    return make_built(names_of(image), state_, files_);
  }

  std::vector<IndexEntry> published;
  std::vector<TagSpan> spans;
  std::map<std::string, ImageRecord> images;  // by the name that a user types
  std::function<void(Catalogue&)> on_plan;
  bool fails = false;
  Lines built, notes;

 private:
  Catalogue plan(Matrix wanted, const RecipeBook& recipes) const {
    return {recipes, plan_matrix(std::move(wanted), {recipes, resolver_.input().targets, archspec()})};
  }

  const StatePaths& state_;
  FileSystem& files_;
  Resolver resolver_;
};

class DerivingTest : public ::testing::Test {
 protected:
  DerivingTest() {
    inputs_.run = "echo run\n";
    request_.name = "train";
    request_.matrix = "matrix/demo.json";
    request_.images = {"first"};
    const Catalogue catalogue = parts_.plain();
    parts_.images["first"] = parts_.make(catalogue.plan.image(0), catalogue.plan);
    parts_.images["second"] = parts_.make(catalogue.plan.image(1), catalogue.plan);
  }

  Deriver deriver() { return {request_, inputs_, state_, files_, parts_}; }
  Error refusal() {
    try {
      Deriver one = deriver();
      one.prepare();
      one.derive();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ExitCode::ok, ""};
  }
  Derived derive() {
    Deriver one = deriver();
    one.prepare();
    return one.derive();
  }
  std::vector<Derivation> recorded() {
    return DerivedStore(state_, files_).all([](const Error&) {});
  }
  IndexEntry entry(const ImageRecord& record) const {
    IndexEntry one;
    one.image = record;
    return one;
  }
  ImageRecord record_of(const Derived& derived) {
    const ResolvedImage image = derived.catalogue.plan.image(derived.images.front());
    return RecordReader(state_, files_).image(image.record_name()).value();
  }

  TemporaryFolder root_;
  RealFileSystem files_;
  StatePaths state_{root_.path()};
  FakeDeriving parts_{state_, files_};
  DerivingRequest request_;
  ApplicationInputs inputs_;
};

TEST_F(DerivingTest, AddsACellUponEachParentAndRecordsIt) {
  request_.images = {"second", "first", "second"};
  const Derived derived = derive();
  EXPECT_EQ(derived.images.size(), 2u) << "a parent that is named twice is one";
  EXPECT_EQ(derived.catalogue.plan.size(), 4u);
  EXPECT_EQ(parts_.built.size(), 2u);
  ASSERT_EQ(recorded().size(), 1u);
  EXPECT_EQ(recorded().front().name, "train");
  EXPECT_EQ(recorded().front().matrix, "demo");
  EXPECT_EQ(recorded().front().parents.size(), 2u);
  EXPECT_TRUE(parts_.notes.empty());
}

TEST_F(DerivingTest, RecordsNothingOfWhatFailsAndNamesItsLogs) {
  parts_.fails = true;
  EXPECT_EQ(derive().report.exit_code(), ExitCode::images_failed);
  EXPECT_TRUE(recorded().empty());
  ASSERT_EQ(parts_.notes.size(), 2u);
  EXPECT_EQ(parts_.notes[0], "train is not recorded: derive it again");
  EXPECT_TRUE(parts_.notes[1].starts_with("its logs: " + state_.logs().string())) << parts_.notes[1];
  EXPECT_FALSE(files_.exists(state_.derived_recipes(digest_of(application_recipes("train", inputs_)).hex())))
      << "and keeps no recipes of it";
}

TEST_F(DerivingTest, RefusesANameThatIsNoRepository) {
  request_.name = "Train";
  EXPECT_EQ(refusal().code(), ExitCode::usage);
}

TEST_F(DerivingTest, RefusesTheNameOfAComponent) {
  request_.name = "openblas";
  EXPECT_EQ(refusal().message(), "--name 'openblas' is the name of the component library/openblas");
}

TEST_F(DerivingTest, RefusesTheNameOfAnotherImage) {
  ImageRecord other = parts_.images["first"];
  other.repository = "train";
  other.application = "pytorch";
  parts_.published = {entry(other)};
  EXPECT_EQ(refusal().message(), "--name 'train' is the name of " + other.name());
  other.repository = "site";
  other.application = "Train";
  parts_.published = {entry(other)};
  EXPECT_EQ(refusal().message(), "--name 'train' is the name of " + other.name())
      << "questions write an application in any case";
  other.components.push_back({"application", "train", Version("1"), ""});
  parts_.published = {entry(other)};
  EXPECT_NO_THROW(derive()) << "an earlier image of this application";
}

TEST_F(DerivingTest, RefusesTheNameOfAnApplicationOfAnotherMatrix) {
  const RecipeTexts recipes = application_recipes("train", inputs_);
  const DerivedStore store(state_, files_);
  store.keep_recipes(recipes);
  store.record({"train", "other", {{{"framework", "pytorch"}}}, digest_of(recipes)});
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(), "--name 'train' is a derived image of the matrix 'other'");
  EXPECT_TRUE(parts_.built.empty());
}

TEST_F(DerivingTest, RefusesAParentThatKilnDidNotBuild) {
  request_.images = {"unknown"};
  EXPECT_EQ(refusal().message(), "'unknown' is no image that kiln built");
  parts_.images["mapping"].reference = "docker://hub/openmpi:3";
  request_.images = {"mapping"};
  EXPECT_EQ(refusal().code(), ExitCode::no_match);
  EXPECT_EQ(refusal().message(), "'mapping' is no image that kiln built");
}

TEST_F(DerivingTest, RefusesADerivedParent) {
  parts_.images["first"].components.push_back({"application", "other", Version("1"), ""});
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_NE(error.message().find("is itself a derived image"), std::string::npos) << error.message();
}

TEST_F(DerivingTest, RefusesARetiredParent) {
  IndexEntry retired = entry(parts_.images["first"]);
  retired.retired = "CVE-2026-1";
  parts_.published = {retired};
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_EQ(error.message(), retired.image.name() + " is retired: CVE-2026-1");
  parts_.published.front().image.key = std::string(64, 'f');
  EXPECT_NO_THROW(derive()) << "other bits of that application are";
}

TEST_F(DerivingTest, RefusesAParentThatTheMatrixDoesNotHave) {
  parts_.images["first"].cell = "jax-debian";
  EXPECT_EQ(refusal().message(), parts_.images["first"].name() +
                                     " is of the cell jax-debian, which matrix/demo.json does not have");
}

TEST_F(DerivingTest, RefusesAParentThatIsNotBuiltOrNotByTodaysRecipes) {
  const Catalogue catalogue = parts_.plain();
  files_.remove_all(state_.built(catalogue.plan.image(0).record_name()));
  const std::string name = parts_.images["first"].name();
  EXPECT_EQ(refusal().message(), name + " is not built in this state folder, or fails a test");
  parts_.images["first"].key = std::string(64, 'f');
  EXPECT_EQ(refusal().message(), name + " is not built by the recipes of today, or fails a test");
  EXPECT_EQ(refusal().hint(),
            "run `kiln build -f matrix/demo.json " + catalogue.plan.image(0).id() + "` first");
}

TEST_F(DerivingTest, OfOtherParentsReplacesTheEarlierOne) {
  derive();
  request_.images = {"second"};
  derive();
  ASSERT_EQ(recorded().size(), 1u);
  EXPECT_EQ(recorded().front().parents.size(), 1u);
}

TEST_F(DerivingTest, KeepsTheEarlierParentsWhereAsked) {
  derive();
  request_.images = {"second"};
  request_.keeps_parents = true;
  EXPECT_EQ(derive().images.size(), 1u) << "those that were asked for";
  ASSERT_EQ(recorded().size(), 1u);
  EXPECT_EQ(recorded().front().parents.size(), 2u);
  EXPECT_TRUE(parts_.notes.empty());
}

TEST_F(DerivingTest, KeepsNoParentsOfOtherFiles) {
  derive();
  request_.images = {"second"};
  request_.keeps_parents = true;
  inputs_.run = "echo other\n";
  derive();
  EXPECT_EQ(recorded().front().parents.size(), 1u);
  EXPECT_EQ(parts_.notes,
            Lines{"note: train was derived from other files before; its tags now mean the new ones"});
}

TEST_F(DerivingTest, RefusesBitsWhoseLatestTagIsRetired) {
  const ImageRecord record = record_of(derive());
  request_.keeps_parents = true;
  const std::string bits = record.identity().hex();
  parts_.spans = {
      {1, 1, bits, false, false, "wrong"}, {2, 2, bits}, {3, 3, std::string(64, 'f'), false, false, "no"}};
  EXPECT_NO_THROW(derive()) << "taken back since, and the retired one has other bits";
  parts_.spans[1].retired = "CVE-2026-1";
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_EQ(error.message(), record.name() + " of these files is retired: CVE-2026-1");
  request_.keeps_parents = false;
  EXPECT_NO_THROW(derive()) << "a person who derives again sees what becomes of the tag";
}

TEST_F(DerivingTest, ThrowsTheErrorOfItsOwnRecipe) {
  const auto breaks = [this](const std::string& name) {
    parts_.on_plan = [name](Catalogue& catalogue) {
      Recipe recipe;
      recipe.kind = Kind::application;
      recipe.name = name;
      catalogue.recipes.add_broken({recipe, Error(ExitCode::input, "broken")});
    };
  };
  for (const char* own : {"train", "train.files"}) {
    breaks(own);
    EXPECT_EQ(refusal().message(), "broken") << own;
  }
  EXPECT_TRUE(parts_.built.empty());
  breaks("trainer");
  EXPECT_NO_THROW(derive());
}

TEST_F(DerivingTest, OfAMatrixThatTakesNoApplicationIsAnErrorOfTheMatrix) {
  parts_.on_plan = [this](Catalogue& catalogue) { catalogue = parts_.plain(); };
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::input);
  EXPECT_EQ(error.message(), "the matrix 'demo' takes no application");
}

class KnownDerivation : public DerivingTest {
 protected:
  std::optional<ImageRecord> known() {
    Deriver one = deriver();
    one.prepare();
    return one.known();
  }
  // Derives, publishes, and returns the image.
  ImageRecord publish() {
    ImageRecord record = record_of(derive());
    record.components.push_back({"application", "train", Version("1"), ""});
    parts_.published = {entry(record)};
    return record;
  }
};

TEST_F(KnownDerivation, IsFoundWhereItIsBuiltAndPublished) {
  EXPECT_FALSE(known());
  const ImageRecord record = record_of(derive());
  EXPECT_FALSE(known()) << "it is not published";
  publish();
  ASSERT_TRUE(known());
  EXPECT_EQ(known()->key, record.key);
  EXPECT_EQ(parts_.built.size(), 2u) << "and nothing is built";
}

TEST_F(KnownDerivation, IsOfTheseFilesAndThisParent) {
  publish();
  request_.images = {"second"};
  EXPECT_FALSE(known());
  request_.images = {"first"};
  inputs_.run = "echo other\n";
  EXPECT_FALSE(known());
}

TEST_F(KnownDerivation, IsNotKnownWhereItsImageIsGone) {
  publish();
  const std::string name = parts_.with_derived(nullptr).plan.image(2).record_name();
  ASSERT_TRUE(files_.exists(state_.built(name)));
  files_.remove_all(state_.built(name));
  EXPECT_FALSE(known());
}

TEST_F(KnownDerivation, IsRefusedWhereItIsRetired) {
  const ImageRecord record = publish();
  parts_.published.front().retired = "CVE-2026-1";
  EXPECT_THROW(known(), Error);
  EXPECT_THROW(deriver().refuse_retired_image(record.key), Error);
  EXPECT_NO_THROW(deriver().refuse_retired_image(std::string(64, 'f')));
}

}  // namespace
}  // namespace kiln::testing
