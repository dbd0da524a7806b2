// The product of the axes, ids, versions, sizes and what is no value.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "support/expand_fixture.h"

namespace kiln {
namespace {

using testing::at;
using testing::axis;
using testing::constraint;
using testing::error_of;
using testing::partial;

using ExpandTest = testing::ExpandTest;

TEST_F(ExpandTest, ProductIsInTheOrderOfTheAxesFirstSlowest) {
  EXPECT_EQ(ids(testing::matrix({axis("library", {"none", "openblas"}),
                                 axis("compiler", {"none", "inductor"}), axis("base", {"debian"})})),
            (Ids{"debian", "inductor-debian", "openblas-debian", "openblas-inductor-debian"}));
}

TEST_F(ExpandTest, IdsHaveOneOrderWhateverTheFilesOrder) {
  AxisValues axes = {{"zone", "z"},
                     {"alpha", "a"},
                     {"base", "debian@trixie"},
                     {"target", "x86_64_v3,nvidia:sm_80"},
                     {"toolchain", "gcc"},
                     {"workload", "mnist"},
                     {"distributed", "mpi"},
                     {"compiler", "inductor"},
                     {"library", "none"},
                     {"method", "distro"},
                     {"version", "2.6.0+cpu"},
                     {"framework", "pytorch"}};
  EXPECT_EQ(cell_id(axes),
            "pytorch-2.6.0+cpu-distro-inductor-mpi-mnist-gcc-x86_64_v3_nvidia_sm_80-debian_trixie-a-z");
  EXPECT_EQ(cell_id({{"library", "none"}}), "none");
}

TEST_F(ExpandTest, ARangeStandsForTheRecipesVersionsNewestFirst) {
  EXPECT_EQ(ids(testing::matrix({axis("framework", {"pytorch", "jax"}), axis("version", {">=2.0", "0.10.2"}),
                                 axis("library", {"none", "openblas"})})),
            (Ids{"pytorch-2.7.0", "pytorch-2.7.0-openblas", "pytorch-2.6.0", "pytorch-2.6.0-openblas",
                 "jax-0.10.2", "jax-0.10.2-openblas"}));
}

TEST_F(ExpandTest, AVersionOfAnotherFrameworkIsExcludedWithTheReason) {
  Expansion out =
      run(testing::matrix({axis("framework", {"pytorch", "jax"}), axis("version", {"2.6", "0.10.2"})}));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out.request(0).axes.at("version"), "2.6.0");  // the recipe's own name for 2.6
  ASSERT_EQ(out.excluded(), 2u);
  EXPECT_EQ(out.excluded(0).reason, "pytorch has no version 0.10.2");
  EXPECT_EQ(out.excluded(1).reason, "jax has no version 2.6.0");
}

TEST_F(ExpandTest, VersionsOfTheAxisAndOfTheValueMustAgree) {
  Expansion out = run(
      testing::matrix({axis("framework", {"pytorch@2.6.0", "none"}), axis("version", {"2.6.0", "2.7.0"})}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.request(0).id, "pytorch_2.6.0-2.6.0");
  ASSERT_EQ(out.excluded(), 3u);
  EXPECT_EQ(out.excluded(0).reason, "pytorch@2.6.0 has no version 2.7.0");
  EXPECT_EQ(out.excluded(1).reason, "version 2.6.0 without a framework");
}

TEST_F(ExpandTest, AnAxisThatACellLacksCountsAsNone) {
  Matrix m = testing::matrix({axis("framework", {"pytorch", "jax"})});
  m.constraints = {constraint({{"library", "none"}}, {{"framework", "jax"}})};
  EXPECT_EQ(ids(m), (Ids{"jax"}));
}

TEST_F(ExpandTest, EqualCellsOfTwoGroupsAreOne) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("library", {"none"})});
  m.groups.push_back({"again", {axis("framework", {"jax", "pytorch"}, 50)}, {}, {}});
  EXPECT_EQ(ids(m), (Ids{"pytorch", "jax"}));
}

TEST_F(ExpandTest, TwoCellsWithOneIdAreAnErrorThatNamesBoth) {
  Matrix m = testing::matrix({axis("target", {"zen3"}), axis("zone", {"a:b", "a_b"})});
  std::string error = error_of([&] { run(m); });
  EXPECT_EQ(error.substr(0, error.find(';')),
            "matrix/demo.json:5:3: error: two cells have the id 'zen3-a_b': target=zen3, zone=a:b "
            "(matrix/demo.json:5:3) and "
            "target=zen3, zone=a_b (matrix/demo.json:5:3) (at /axes/target)");
}

TEST_F(ExpandTest, UnknownValuesAreErrorsAtTheirAxis) {
  auto message = [&](const Matrix& m) { return error_of([&] { run(m); }); };
  EXPECT_EQ(message(testing::matrix({axis("library", {"none", "openblass"}, 7)})),
            "matrix/demo.json:7:3: error: no recipe for library 'openblass' (at /axes/library/1); did you "
            "mean 'openblas'?");
  EXPECT_EQ(message(testing::matrix({axis("library", {"openblas@0.3.27"}, 7)})),
            "matrix/demo.json:7:3: error: library/openblas has no version '0.3.27' (at /axes/library/0); did "
            "you mean "
            "'0.3.28'?");
  EXPECT_EQ(message(testing::matrix({axis("library", {"openblas:sorce"}, 7)})),
            "matrix/demo.json:7:3: error: library/openblas has no method 'sorce' (at /axes/library/0); did "
            "you mean "
            "'source'?");
  EXPECT_EQ(message(testing::matrix({axis("method", {"pipp"}, 8)})),
            "matrix/demo.json:8:3: error: no recipe has a method 'pipp' (at /axes/method/0); did you mean "
            "'pip'?");
  EXPECT_EQ(message(testing::matrix({axis("framework", {"jax"}), axis("version", {"0.10.3"}, 9)})),
            "matrix/demo.json:9:3: error: jax has no version '0.10.3' (at /axes/version/0); did you mean "
            "'0.10.2'?");
  EXPECT_EQ(message(testing::matrix({axis("base", {"debian+debian"}, 9)})),
            "matrix/demo.json:9:3: error: 'debian' is twice in 'debian+debian' (at /axes/base/0)");
  EXPECT_EQ(message(testing::matrix({axis("framework", {"jax+pytorch"}, 9)})),
            "matrix/demo.json:9:3: error: an image has one framework, found 'jax+pytorch' (at "
            "/axes/framework/0)");
}

TEST_F(ExpandTest, UnknownValuesOfAnIncludeAreErrorsThere) {
  Matrix m = testing::matrix({axis("framework", {"jax"})});
  m.groups[0].include = {
      {{{"framework", "pytorch"}, {"version", "2.5.0"}}, at("matrix/demo.json", 30, "/include/0")}};
  EXPECT_EQ(error_of([&] { run(m); }),
            "matrix/demo.json:30:3: error: pytorch has no version '2.5.0' (at /include/0/version); did you "
            "mean '2.6.0'?");
  m.groups[0].include = {{{{"version", ">=0.1"}}, at("matrix/demo.json", 30, "/include/0")}};
  EXPECT_EQ(error_of([&] { run(m); }),
            "matrix/demo.json:30:3: error: a cell cannot take over the version range '>=0.1' (at "
            "/include/0/version); name one "
            "version");
}

TEST_F(ExpandTest, ARangeNeedsAFramework) {
  std::string error = error_of([&] { run(testing::matrix({axis("version", {">=2"}, 6)})); });
  EXPECT_TRUE(
      error.starts_with("matrix/demo.json:6:3: error: the version range '>=2' needs a framework axis (at "
                        "/axes/version); a range stands"))
      << error;
}

TEST_F(ExpandTest, TooManyCellsAreRefusedAlsoWhenVersionsMakeThem) {
  Matrix m = testing::matrix({axis("framework", {"pytorch"}), axis("version", {"*"}), axis("zone", {})});
  for (int zone = 0; zone < 40'000; ++zone) m.groups[0].axes[2].values.push_back(fmt::format("z{}", zone));
  EXPECT_EQ(error_of([&] { run(m); }).substr(0, 67),
            "matrix/demo.json:5:3: error: the matrix has more than 100000 cells ");
}

// A slow expansion straight from GitHub's words, on axes without versions and components.
std::vector<AxisValues> reference(const MatrixGroup& group) {
  std::vector<AxisValues> cells = {{}};
  for (const Axis& one : group.axes) {
    std::vector<AxisValues> longer;
    for (const AxisValues& cell : cells)
      for (const std::string& value : one.values) {
        longer.push_back(cell);
        longer.back()[one.name] = value;
      }
    cells = std::move(longer);
  }
  std::erase_if(cells, [&](const AxisValues& cell) {
    return std::any_of(group.exclude.begin(), group.exclude.end(), [&](const Partial& exclude) {
      return std::all_of(exclude.values.begin(), exclude.values.end(), [&](const auto& want) {
        return cell.contains(want.first) && cell.at(want.first) == want.second;
      });
    });
  });
  std::set<std::string> names;
  for (const Axis& one : group.axes) names.insert(one.name);
  std::size_t originals = cells.size();
  for (const Partial& include : group.include) {
    bool extended = false;
    for (std::size_t index = 0; index < originals; ++index) {
      bool overwrites = std::any_of(include.values.begin(), include.values.end(), [&](const auto& value) {
        return names.contains(value.first) && cells[index].at(value.first) != value.second;
      });
      if (overwrites) continue;
      extended = true;
      for (const auto& [name, value] : include.values) cells[index][name] = value;
    }
    if (!extended) cells.push_back(include.values);
  }
  std::vector<AxisValues> distinct;
  for (const AxisValues& cell : cells)
    if (std::find(distinct.begin(), distinct.end(), cell) == distinct.end()) distinct.push_back(cell);
  return distinct;
}

AxisValues random_partial(std::mt19937& random) {
  AxisValues values;
  for (const char* name : {"u", "v", "w", "x", "y"})
    if (random() % 3 == 0) values[name] = fmt::format("{}{}", name, random() % 4);
  if (values.empty()) values["u"] = "u0";
  return values;
}

TEST(ExpandPropertyTest, AgreesWithASlowReferenceOnRandomMatrices) {
  std::mt19937 random(20'241'120);
  for (int round = 0; round < 400; ++round) {
    std::vector<Axis> axes;
    for (const char* name : {"u", "v", "w"}) {
      axes.push_back(axis(name, {}));
      for (unsigned value = 0, most = static_cast<unsigned>(random() % 4); value <= most; ++value)
        axes.back().values.push_back(fmt::format("{}{}", name, value));
    }
    std::shuffle(axes.begin(), axes.end(), random);
    Matrix m = testing::matrix(axes);
    for (auto count = random() % 4; count-- > 0;)
      m.groups[0].exclude.push_back(partial(random_partial(random)));
    for (auto count = random() % 5; count-- > 0;)
      m.groups[0].include.push_back(partial(random_partial(random)));
    Expansion out = expand(m, RecipeBook());
    std::vector<AxisValues> got;
    for (const ImageRequest& request : testing::requests_of(out)) got.push_back(request.axes);
    ASSERT_EQ(got, reference(m.groups[0])) << "round " << round;
  }
}

}  // namespace
}  // namespace kiln
