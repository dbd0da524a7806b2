// Which cells of the product stay, and which come in addition: exclude, include, constraints.
#include "support/expand_fixture.h"

namespace kiln {
namespace {

using testing::axis;
using testing::constraint;
using testing::error_of;
using testing::partial;

using ExpandChoiceTest = testing::ExpandTest;

TEST_F(ExpandChoiceTest, ExcludeMatchesAnySuperset) {
  Matrix m = testing::matrix(
      {axis("framework", {"pytorch"}), axis("version", {"*"}), axis("library", {"none", "openblas"})});
  m.groups[0].exclude = {partial({{"version", "<2"}, {"library", "open*"}}, 12),
                         partial({{"version", ">=2.7"}}, 13)};
  Expansion out = run(m);
  Ids left;
  for (const ImageRequest& request : testing::requests_of(out)) left.push_back(request.id);
  EXPECT_EQ(left, (Ids{"pytorch-2.6.0", "pytorch-2.6.0-openblas", "pytorch-1.13.1"}));
  ASSERT_EQ(out.excluded(), 3u);
  EXPECT_EQ(out.excluded(0).reason, "exclude at matrix/demo.json:13:3");
  EXPECT_EQ(out.excluded(2).reason, "exclude at matrix/demo.json:12:3");
  EXPECT_EQ(out.excluded(2).axes.at("version"), "1.13.1");
  EXPECT_TRUE(out.warnings().empty());
}

TEST_F(ExpandChoiceTest, APatternWithoutVersionMatchesByNameAndByPart) {
  Matrix m = testing::matrix({axis("library", {"openblas@0.3.29:source", "none"})});
  m.groups[0].exclude = {partial({{"library", "openblas"}})};
  EXPECT_EQ(ids(m), (Ids{"none"}));
  m.groups[0].exclude = {partial({{"library", "openblas:distro"}})};
  EXPECT_EQ(ids(m).size(), 2u);
  m = testing::matrix({axis("toolchain", {"gcc+python", "gcc"})});
  m.groups[0].exclude = {partial({{"toolchain", "python"}})};
  EXPECT_EQ(ids(m), (Ids{"gcc"}));
}

TEST_F(ExpandChoiceTest, ExcludesAndConstraintsThatMatchNothingAreReported) {
  Matrix m = testing::matrix({axis("framework", {"jax"})});
  m.groups[0].exclude = {partial({{"framework", "pytorch"}}, 12), partial({{"flavour", "*"}}, 13)};
  m.constraints = {constraint({{"compiler", "inductor"}}, {{"framework", "pytorch"}})};
  Expansion out = run(m);
  EXPECT_EQ(out.warnings(),
            (Ids{"matrix/demo.json:12:3: this exclude matches no cell: no value of framework is "
                 "'pytorch'; values: jax",
                 "matrix/demo.json:13:3: this exclude matches no cell",
                 "matrix/demo.json:20:3: the condition of this constraint matches no cell: no value of "
                 "compiler is 'inductor'; there is no axis compiler"}));
  m = testing::matrix({axis("framework", {"jax"}), axis("version", {">=9"})});
  EXPECT_EQ(run(m).warnings(), (Ids{"matrix/demo.json:5:3: no framework has a version in '>=9'"}));
  EXPECT_TRUE(run(m).size() == 0);
}

TEST_F(ExpandChoiceTest, AnExcludeMayGiveItsReason) {
  Matrix m = testing::matrix({axis("framework", {"pytorch", "jax"})});
  m.groups[0].exclude = {partial({{"framework", "jax"}})};
  EXPECT_EQ(run(m).excluded(0).reason, "exclude at matrix/demo.json:12:3");
  m.groups[0].exclude[0].reason = "its licence";
  EXPECT_EQ(run(m).excluded(0).reason, "its licence");
  EXPECT_EQ(run(m).excluded(0).where.line, 12);
}

TEST_F(ExpandChoiceTest, AMisspeltValueOfAnExcludeIsTold) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("version", {"2.6", "2.7.0"}),
                              axis("library", {"none", "openblas@0.3.28"})});
  auto warning = [&](AxisValues values) {
    m.groups[0].exclude = {partial(std::move(values))};
    std::vector<std::string> warnings = run(m).warnings();
    return warnings.empty() ? "" : warnings.at(0);
  };
  const std::string nothing = "matrix/demo.json:12:3: this exclude matches no cell";
  EXPECT_EQ(warning({{"library", "opnblas"}}),
            nothing + ": no value of library is 'opnblas'; did you mean 'openblas'?");
  EXPECT_EQ(warning({{"framework", "pytorch"}, {"version", "2.5"}}),
            nothing + ": no value of version is '2.5'; did you mean '2.6.0'?");
  EXPECT_EQ(warning({{"library", "opn*"}}), nothing);
  EXPECT_EQ(warning({{"version", "<2"}}), nothing);
  EXPECT_EQ(warning({{"library", "openblas@0.3.29"}}),
            nothing + ": no value of library is 'openblas@0.3.29'; did you mean 'openblas@0.3.28'?");
  EXPECT_EQ(warning({{"library", "openblas"}, {"version", "2.6"}}), "");
  EXPECT_EQ(warning({{"compiler", "inductor"}}),
            nothing + ": no value of compiler is 'inductor'; there is no axis compiler");
}

TEST_F(ExpandChoiceTest, AMisspeltValueOfAConditionIsTold) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("library", {"none", "openblas@0.3.28"})});
  auto warnings = [&](AxisValues values) {
    m.constraints = {constraint(std::move(values), {}, {{"framework", "jax"}})};
    return run(m).warnings();
  };
  const std::string nothing = "matrix/demo.json:20:3: the condition of this constraint matches no cell";
  EXPECT_EQ(warnings({{"library", "opnblas"}}),
            Ids{nothing + ": no value of library is 'opnblas'; did you mean 'openblas'?"});
  EXPECT_EQ(warnings({{"library", "opn*"}}), Ids{nothing});
  EXPECT_EQ(warnings({{"framework.python", "2.7"}}), Ids{nothing});
  EXPECT_TRUE(warnings({{"library", "openblas"}}).empty());
  // The next group may well have it.
  m.groups.push_back(m.groups[0]);
  m.groups[1].axes[0].values = {"jax"};
  const AxisValues spelt_right = {{"framework", "jax"}, {"library", "openblas"}, {"version", "<0"}};
  EXPECT_EQ(warnings(spelt_right), Ids{nothing});
  std::swap(m.groups[0], m.groups[1]);
  EXPECT_EQ(warnings(spelt_right), Ids{nothing});
  EXPECT_EQ(warnings({{"framework", "jaxx"}}),
            Ids{nothing + ": no value of framework is 'jaxx'; did you mean 'jax'?"});
}

TEST_F(ExpandChoiceTest, AFactThatNoRecipeHasIsAnError) {
  Matrix m = testing::matrix({axis("framework", {"pytorch", "jax"})});
  m.constraints = {constraint({{"framework.pyton", "<3.11"}}, {}, {{"framework", "jax"}})};
  EXPECT_EQ(
      testing::error_of([&] { run(m); }),
      "matrix/demo.json:20:3: error: no framework has the fact 'pyton' (at /constraints/0); did you mean "
      "'framework.python'?");
  m.constraints[0].fact_keys["if/framework.pyton"] = {"matrix/demo.json", 20, 9,
                                                      "/constraints/0/if/framework.pyton"};
  EXPECT_EQ(testing::error_of([&] { run(m); }),
            "matrix/demo.json:20:9: error: no framework has the fact 'pyton' (at "
            "/constraints/0/if/framework.pyton); did you mean 'framework.python'?");
  m.constraints = {constraint({{"framework", "jax"}}, {{"library.vendor", "*"}})};
  EXPECT_NE(testing::error_of([&] { run(m); }).find("no library has the fact 'vendor'"), std::string::npos);
}

TEST_F(ExpandChoiceTest, IncludeExtendsWhatItDoesNotContradict) {
  Matrix m = testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"none", "openblas"})});
  m.groups[0].include = {partial({{"framework", "pytorch"}, {"method", "distro"}}, 30),
                         partial({{"target", "zen3"}}, 31),
                         partial({{"method", "pip"}, {"library", "openblas"}}, 32)};
  EXPECT_EQ(ids(m),
            (Ids{"pytorch-distro-zen3", "pytorch-pip-openblas-zen3", "jax-zen3", "jax-pip-openblas-zen3"}));
}

TEST_F(ExpandChoiceTest, AnIncludeThatFitsNoOriginalCellAddsOne) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"})});
  m.groups[0].include = {partial({{"framework", "jax"}}, 30),
                         partial({{"framework", "jax"}, {"target", "zen3"}}, 31)};
  Expansion out = run(m);
  ASSERT_EQ(out.size(), 3u);  // the second does not extend the first: that was no original cell
  EXPECT_EQ(out.request(1).id, "jax");
  EXPECT_EQ(out.request(1).where.line, 30);
  EXPECT_EQ(out.request(2).id, "jax-zen3");
}

TEST_F(ExpandChoiceTest, AnIncludeMayBringACellBack) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("library", {"none", "openblas"})});
  m.groups[0].exclude = {partial({{"framework", "pytorch"}})};
  m.groups[0].include = {partial({{"framework", "pytorch"}, {"library", "openblas"}}, 30)};
  Expansion out = run(m);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.request(0).id, "pytorch-openblas");
  ASSERT_EQ(out.excluded(), 1u);  // the one brought back is not among them
  EXPECT_EQ(out.excluded(0).axes.at("library"), "none");
}

TEST_F(ExpandChoiceTest, VersionsOfAnIncludeAreComparedAsVersions) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("version", {"2.7.0", "2.6.0"})});
  m.groups[0].include = {partial({{"version", "2.6"}, {"library", "openblas"}}, 30),
                         partial({{"framework", "pytorch"}, {"version", "<2"}}, 31),
                         partial({{"version", ">=2.7"}, {"target", "zen3"}}, 32)};
  EXPECT_EQ(ids(m), (Ids{"pytorch-2.7.0-zen3", "pytorch-2.6.0-openblas", "pytorch-1.13.1"}));
}

TEST_F(ExpandChoiceTest, ConstraintsForbidAndRequireAndReadFacts) {
  Matrix m = testing::matrix(
      {axis("framework", {"pytorch"}), axis("version", {"*"}), axis("library", {"none", "openblas"})});
  m.constraints = {constraint({{"library", "openblas"}}, {{"version", ">=2.6"}}),
                   constraint({{"framework", "pytorch"}}, {}, {{"framework.python", "<3.11"}}),
                   constraint({{"version", "2.7"}}, {{"framework.python", "*"}})};
  Expansion out = run(m);
  ASSERT_EQ(out.size(), 2u);  // 2.7.0 has no such fact, 1.13.1 has Python 3.10
  EXPECT_EQ(out.request(0).id, "pytorch-2.6.0");
  EXPECT_EQ(out.request(1).id, "pytorch-2.6.0-openblas");
  ASSERT_EQ(out.excluded(), 4u);
  EXPECT_EQ(out.excluded(0).reason, "it does not work");
  EXPECT_EQ(out.excluded(0).where.line, 20);
}

// "none" sorts after every number, as words do, and is nevertheless no CUDA newer than 10.
TEST_F(ExpandChoiceTest, AFactThatIsNoVersionIsInNoRange) {
  RecipeBook recipes = testing::book({testing::RecipeDraft(Kind::base, "hub", {"gpu", "cpu"})
                                          .image("docker.io/x:{version}")
                                          .fact("gpu", "cuda", "12.6")
                                          .fact("cpu", "cuda", "none")});
  Matrix m = testing::matrix({axis("base", {"hub@gpu", "hub@cpu"})});
  m.constraints = {constraint({}, {{"base.cuda", ">=10"}})};
  Expansion out = expand(m, recipes);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.request(0).id, "hub_gpu");
  ASSERT_EQ(out.excluded(), 1u);
}

TEST_F(ExpandChoiceTest, AConstraintKnowsTheNewestVersionWhereTheCellNamesNone) {
  Matrix m = testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"openblas@0.3.28"})});
  m.constraints = {constraint({{"version", ">=2.7"}}, {}, {{"library", "openblas@0.3.28"}})};
  EXPECT_EQ(ids(m), (Ids{"jax-openblas_0.3.28"}));
}

// The pattern `none` of a version: what has no framework, not a version that sorts after that word.
TEST_F(ExpandChoiceTest, ThePatternNoneIsNoVersionThatSortsAfterIt) {
  recipes_ =
      testing::book({testing::RecipeDraft(Kind::framework, "thing", {"xenial"}).method("distro", "x")});
  Matrix m = testing::matrix({axis("framework", {"thing", "none"}), axis("version", {"xenial", "none"})});
  m.groups[0].exclude = {partial({{"version", "none"}})};
  for (const ImageRequest& request : testing::requests_of(run(m)))
    EXPECT_EQ(request.axes.at("version"), "xenial") << request.id;
  EXPECT_FALSE(ids(m).empty());
}

// A pattern of digits is a version, "1" as well as "12".
TEST_F(ExpandChoiceTest, AFactOfOneDigitIsComparedAsAVersion) {
  recipes_ = testing::book(
      {testing::RecipeDraft(Kind::framework, "thing", {"1"}).method("distro", "x").fact("1", "api", "1.0")});
  Matrix m = testing::matrix({axis("framework", {"thing"})});
  m.groups[0].exclude = {partial({{"framework.api", "1"}})};
  EXPECT_EQ(run(m).size(), 0u);
}

TEST_F(ExpandChoiceTest, APatternThatCannotBeReadIsNamedByItsKey) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("version", {"*"})});
  m.groups[0].exclude = {partial({{"framework", "jax"}, {"version", ">=2,<"}})};
  EXPECT_NE(error_of([&] { run(m); }).find("(at /exclude/0/version)"), std::string::npos);
}

}  // namespace
}  // namespace kiln
