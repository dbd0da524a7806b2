// All cells of a matrix resolved together: what they share is found once, and changes none of them.
#include <set>

#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln {
namespace {

using namespace testing;

Matrix many_cells() {
  Matrix all = matrix(
      {axis("framework", {"pytorch"}), axis("version", {"2.6.0", "2.7.0"}), axis("method", {"distro", "pip"}),
       axis("library", {"none", "openblas:source", "openblas@0.3.28:source"}),
       axis("compiler", {"none", "inductor"}), axis("base", {"debian@trixie", "debian@bookworm"}),
       axis("target", {"x86_64_v3", "zen3", "x86_64_v3,nvidia:sm_80", "neoverse_v1"})});
  all.groups[0].exclude.push_back(partial({{"library", "openblas@0.3.28:source"}, {"compiler", "inductor"}}));
  return all;
}

class ResolutionTest : public ::testing::Test {
 protected:
  Resolution resolved() const {
    return resolve(expand(matrix_, resolver_.input().recipes), resolver_.input());
  }
  Matrix matrix_ = many_cells();
  Resolver resolver_;
};

// Each image beside what resolve says of its cell alone; the number of images.
std::size_t compare(const Matrix& matrix, const ResolveInput& input) {
  const Resolution all = resolve(expand(matrix, input.recipes), input);
  const std::vector<ImageRequest> requests = requests_of(expand(matrix, input.recipes));
  std::size_t number = 0;
  for (const ImageRequest& request : requests) {
    auto alone = resolve(request, input);
    auto* spec = std::get_if<ImageSpec>(&alone);
    if (spec == nullptr) continue;
    if (number >= all.size()) return 0;
    const ResolvedImage image = all.image(number++);
    EXPECT_EQ(image.id(), request.id);
    EXPECT_EQ(to_json(image.spec()), to_json(*spec));
    EXPECT_EQ(image.record_name(), record_name(*spec));
    EXPECT_EQ(image.immutable_tag(), spec->immutable_tag);
    EXPECT_EQ(image.reference(), spec->repository + ":" + spec->tag);
    EXPECT_EQ(image.key(), spec->key);
    EXPECT_EQ(image.architecture(), image.target().platform_architecture(input.cpus));
  }
  EXPECT_EQ(number, all.size());
  EXPECT_EQ(all.size() + all.excluded(), requests.size() + all.expansion().excluded());
  return number;
}

TEST_F(ResolutionTest, WhatCellsShareChangesNoneOfThem) {
  EXPECT_GT(compare(matrix_, resolver_.input()), 50u);
}

// Everything that a script's values, a need and a test may depend on, in one recipe.
TEST_F(ResolutionTest, WhatDependsOnTheRestOfTheCellIsNotShared) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  recipes.push_back(RecipeDraft(Kind::distributed, "mpi", {"4.1", "3.4"})
                        .method("source", "install mpi",
                                {"KILN_VERSION", "KILN_LIBRARY_NAME", "KILN_FRAMEWORK_VERSION", "CFLAGS",
                                 "KILN_CUDA_ARCHS", "KILN_OPTIMISE"})
                        .build("make mpi", {"/opt/kiln/mpi"})
                        .build_needs(Kind::toolchain, "gcc")
                        .needs_when(Kind::library, "openblas", "", "*nvidia*")
                        .after("framework")
                        .test("mpirun")
                        .test_when("uses the GPU", "*nvidia*")
                        .test_when("only the old one", "", "3.4"));
  Resolver resolver(recipes);
  matrix_.groups[0].axes.push_back(axis("distributed", {"mpi", "mpi@3.4"}));
  matrix_.groups[0].axes.push_back(axis("optimise", {"none", "o3+lto"}));
  matrix_.groups[0].axes[5].values = {"debian@trixie"};
  EXPECT_GT(compare(matrix_, resolver.input()), 100u);
}

TEST(ResolutionCatalogues, AreThoseOfTheirCells) {
  RealFileSystem files;
  fs::path source(KILN_SOURCE_DIR);
  RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
  TargetBook targets = TargetBook::read(files, source / "matrix/targets", archspec());
  std::size_t catalogues = 0;
  for (const std::string& name : files.list(source / "matrix")) {
    if (!name.ends_with(".json") || name.starts_with("site")) continue;
    EXPECT_GT(compare(read_matrix(files, source / "matrix" / name), {recipes, targets, archspec()}), 0u)
        << name;
    ++catalogues;
  }
  EXPECT_GE(catalogues, 2u);
}

TEST_F(ResolutionTest, StepsOfEqualKeyAreOneStep) {
  const Resolution all = resolved();
  const StepTable& steps = all.steps();
  std::map<std::string, StepTable::Number> first;
  for (StepTable::Number step = 0; step < steps.size(); ++step) {
    EXPECT_EQ(first.emplace(steps.hex(step), steps.first(step)).first->second, steps.first(step));
    const Step whole = steps.step(step);
    EXPECT_EQ(Digest::of(whole.inputs).hex(), whole.key);
    EXPECT_EQ(whole.key, steps.hex(step));
    EXPECT_EQ(whole.parent, steps.hex(steps.parent(step)));
    EXPECT_EQ(whole.from, steps.hex(steps.from(step)));
  }
  EXPECT_LT(first.size(), 10 * all.size()) << "images share steps";
}

// Two versions of what no script is told are one step with two titles: each image says its own.
TEST_F(ResolutionTest, WordsAreTheImagesOwn) {
  Resolver resolver({RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                     RecipeDraft(Kind::framework, "hello", {"2", "1"}).method("distro", "echo")});
  const Resolution all = resolve(expand(matrix({axis("framework", {"hello"}), axis("version", {"1", "2"}),
                                                axis("base", {"debian"}), axis("target", {"zen3"})}),
                                        resolver.input().recipes),
                                 resolver.input());
  ASSERT_EQ(all.size(), 2u);
  const ImageSpec one = all.image(0).spec();
  const ImageSpec two = all.image(1).spec();
  EXPECT_EQ(one.last_step().key, two.last_step().key);
  EXPECT_EQ(one.last_step().title, "hello 1 (distro)");
  EXPECT_EQ(two.last_step().title, "hello 2 (distro)");
  EXPECT_EQ(all.steps().first(all.image(0).steps().back()), all.steps().first(all.image(1).steps().back()));
}

// A cell that cannot be leaves its steps behind; their words are not those of an image's.
TEST_F(ResolutionTest, AStepIsCalledWhatTheFirstImageCallsIt) {
  Resolver resolver({RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                     RecipeDraft(Kind::framework, "hello", {"2", "1"}).method("distro", "echo")});
  Matrix cells = matrix({axis("framework", {"hello"}), axis("version", {"2"}), axis("base", {"debian"}),
                         axis("target", {"zen3"}), axis("optimise", {"o3"})});
  cells.groups[0].include.push_back(partial({{"framework", "hello"},
                                             {"version", "1"},
                                             {"base", "debian"},
                                             {"target", "zen3"},
                                             {"optimise", "none"}}));
  const Resolution all = resolve(expand(cells, resolver.input().recipes), resolver.input());
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all.excluded(), 1u) << "nothing reads the flags";
  const StepTable::Number last = all.image(0).steps().back();
  EXPECT_EQ(all.steps().pattern(all.steps().first(last)).title, "hello 1 (distro)");
}

TEST_F(ResolutionTest, ItRefersToNothingThatItDoesNotHold) {
  auto make = [&] {
    Resolver resolver;
    return resolve(expand(many_cells(), resolver.input().recipes), resolver.input());
  };
  const Resolution orphan = make();
  const Resolution all = resolved();
  ASSERT_EQ(orphan.size(), all.size());
  for (std::size_t image = 0; image < all.size(); image += 7)
    EXPECT_EQ(to_json(orphan.image(image).spec()), to_json(all.image(image).spec()));
}

TEST_F(ResolutionTest, WhatIsLeftOutIsSaidAfterWhatTheMatrixExcludes) {
  matrix_.groups[0].axes[1].values = {"2.6.0", "1.13.1"};
  const Resolution all = resolved();
  const std::vector<ExcludedCell> excluded = excluded_of(all);
  const std::vector<ExcludedCell> of_matrix = excluded_of(all.expansion());
  ASSERT_GT(excluded.size(), of_matrix.size());
  for (std::size_t number = 0; number < of_matrix.size(); ++number)
    EXPECT_EQ(excluded[number].reason, "exclude at matrix/demo.json:12:3");
  EXPECT_EQ(excluded[of_matrix.size()].reason,
            "inductor needs framework pytorch >=2.0; the cell has pytorch 1.13.1");
}

TEST_F(ResolutionTest, TwoCellsOfOneTagAreNoneOfItsBusiness) {
  matrix_ = matrix(
      {axis("framework", {"pytorch"}), axis("base", {"debian", "debian@trixie"}), axis("target", {"zen3"})});
  const Resolution all = resolved();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.image(0).reference(), all.image(1).reference());
}

}  // namespace
}  // namespace kiln
