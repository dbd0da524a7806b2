#include "factory/recipe/matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

// A matrix of one framework, named as its file, that includes others.
std::string includes(const std::string& name, const std::string& others) {
  return fmt::format("{{\"name\": \"{}\",\n \"includes\": [{}],\n \"axes\": {{\"framework\": \"{}\"}}}}",
                     name, others, name);
}

Strings group_names(const Matrix& matrix) {
  Strings names;
  for (const MatrixGroup& group : matrix.groups) names.push_back(group.name);
  return names;
}

TEST(Matrix, ReadsAxesInTheFilesOrder) {
  Matrix matrix = read_matrix(FakeFileSystem({{"matrix/demo.json", kMatrix}}), "matrix/demo.json");
  EXPECT_EQ(matrix.name, "demo");
  EXPECT_EQ(matrix.file, "matrix/demo.json");
  ASSERT_EQ(group_names(matrix), Strings{"demo"});
  const std::vector<Axis>& axes = matrix.groups[0].axes;
  ASSERT_EQ(axes.size(), 10u);
  EXPECT_EQ(axes[0].name, "framework");
  EXPECT_EQ(axes[1].name, "version");
  EXPECT_EQ(axes[1].values, (Strings{"2.6.0", ">=2.7 <2.9"}));
  EXPECT_EQ(axes[1].where.line, 6);
  EXPECT_EQ(axes[3].values, (Strings{"none", "openblas@0.3.29:distro", "mkl+openmpi"}));
  EXPECT_EQ(axes[4].name, "toolchain");
  EXPECT_EQ(axes[4].values, Strings{"gcc"});
}

TEST(Matrix, ReadsExcludeIncludeAndConstraints) {
  Matrix matrix = read_matrix(FakeFileSystem({{"matrix/demo.json", kMatrix}}), "matrix/demo.json");
  const MatrixGroup& group = matrix.groups.at(0);
  ASSERT_EQ(group.exclude.size(), 2u);
  EXPECT_EQ(group.exclude[0].values, (AxisValues{{"compiler", "induc*"}, {"library", "none"}}));
  EXPECT_EQ(group.exclude[1].values.at("version"), "<2.7");
  EXPECT_EQ(group.exclude[1].where.pointer, "/exclude/1");
  EXPECT_EQ(group.exclude[1].values.size(), 2u);
  EXPECT_EQ(group.exclude[0].reason, "");
  EXPECT_EQ(group.exclude[1].reason, "no wheels");
  ASSERT_EQ(group.include.size(), 1u);
  EXPECT_EQ(group.include[0].values, (AxisValues{{"distributed", "openmpi"}, {"framework", "pytorch"}}));
  ASSERT_EQ(matrix.constraints.size(), 2u);
  EXPECT_EQ(matrix.constraints[0].when, (AxisValues{{"compiler", "glow"}}));
  EXPECT_EQ(matrix.constraints[0].require, (AxisValues{{"framework", "pytorch"}, {"version", "<2"}}));
  EXPECT_TRUE(matrix.constraints[0].forbid.empty());
  EXPECT_EQ(matrix.constraints[0].reason, "glow ended");
  EXPECT_EQ(matrix.constraints[1].when.at("framework.python"), "<3.11");
  EXPECT_EQ(matrix.constraints[1].forbid, (AxisValues{{"base", "debian*"}}));
  EXPECT_EQ(matrix.constraints[1].where.line, 20);
  EXPECT_EQ(matrix.constraints[1].fact_keys.at("if/framework.python").column, 33);
}

TEST(Matrix, AddsWhatItIncludes) {
  FakeFileSystem files({{"matrix/demo.json", kMatrix}, {"matrix/all.json", kGroups}});
  Matrix matrix = read_matrix(files, "matrix/all.json");
  EXPECT_EQ(matrix.name, "all");
  EXPECT_EQ(group_names(matrix), (Strings{"demo", "cpu", "gpu"}));
  EXPECT_EQ(matrix.constraints.size(), 2u);
  EXPECT_EQ(matrix.groups[1].include.at(0).values, (AxisValues{{"target", "zen3"}}));
  EXPECT_EQ(matrix.groups[1].axes.at(0).where.file, "matrix/all.json");
  EXPECT_EQ(matrix.groups[0].axes.at(0).where.file, "matrix/demo.json");
}

TEST(Matrix, IncludesAFileOnceByWhateverWay) {
  FakeFileSystem files({{"m/a.json", includes("a", R"("b.json", "../m/sub/c.json")")},
                        {"m/b.json", includes("b", R"("sub/../sub/c.json")")},
                        {"m/sub/c.json", R"({"name": "c", "axes": {"framework": "c"}})"}});
  EXPECT_EQ(group_names(read_matrix(files, "m/./a.json")), (Strings{"c", "b", "a"}));
}

TEST(Matrix, MayConsistOfIncludesAlone) {
  FakeFileSystem files({{"all.json", R"({"name": "all", "includes": ["/m/c.json"]})"},
                        {"/m/c.json", R"({"name": "c", "axes": {"framework": "c"}})"}});
  EXPECT_EQ(group_names(read_matrix(files, "all.json")), Strings{"c"});
}

TEST(Matrix, NeedsSomethingToBuild) {
  FakeFileSystem files({{"m.json", R"({"name": "m"})"}, {"g.json", R"({"name": "g", "groups": []})"}});
  EXPECT_EQ(input_error([&] { read_matrix(files, "m.json"); }),
            "m.json:1:1: error: a matrix needs 'axes', 'groups' or 'includes'");
  EXPECT_EQ(input_error([&] { read_matrix(files, "g.json"); }),
            "g.json:1:25: error: expected at least one group, found an empty array (at /groups)");
}

TEST(Matrix, NamesTheNearestFileWhenAbsent) {
  FakeFileSystem files({{"matrix/demo.json", kMatrix}});
  EXPECT_EQ(input_error([&] { read_matrix(files, "matrix/dmeo.json"); }),
            "error: there is no file 'matrix/dmeo.json'; did you mean 'demo.json'?");
  EXPECT_EQ(input_error([&] { read_matrix(files, "matrix"); }), "error: 'matrix' is a folder");
}

TEST(Matrix, TellsACircleOfIncludes) {
  FakeFileSystem files({{"m/a.json", includes("a", R"("b.json")")},
                        {"m/b.json", includes("b", R"("sub/c.json")")},
                        {"m/sub/c.json", includes("c", R"("../b.json")")}});
  EXPECT_EQ(input_error([&] { read_matrix(files, "m/a.json"); }),
            "m/sub/c.json:2:15: error: catalogues include each other in a circle: m/b.json:2:15 includes "
            "m/sub/c.json:2:15 includes m/b.json (at /includes/0)");
}

TEST(Matrix, TellsAFileThatIncludesItself) {
  FakeFileSystem files({{"a.json", includes("a", R"("./a.json")")}});
  EXPECT_EQ(input_error([&] { read_matrix(files, "a.json"); }),
            "a.json:2:15: error: catalogues include each other in a circle: a.json:2:15 includes a.json (at "
            "/includes/0)");
}

TEST(Matrix, IncludesAtMost32Deep) {
  FakeFileSystem files;
  for (int i = 0; i < 40; ++i)
    files.files[fmt::format("{}.json", i)] =
        includes(fmt::format("{}", i), fmt::format("\"{}.json\"", i + 1));
  EXPECT_EQ(input_error([&] { read_matrix(files, "0.json"); }),
            "31.json:2:15: error: catalogues include each other more than 32 deep (at /includes/0)");
}

MatrixGroup group_of(int axes, std::size_t values) {
  MatrixGroup group{"wide", {}, {}, {}};
  for (int i = 0; i < axes; ++i)
    group.axes.push_back({fmt::format("axis{}", i), Strings(values, "v"), {"m.json", 3, 5, "/axes/axis0"}});
  return group;
}

TEST(MatrixSize, IsTheProductOfTheAxes) {
  EXPECT_EQ(checked_size(group_of(3, 4), 64), 64u);
  Matrix matrix = read_matrix(FakeFileSystem({{"demo.json", kMatrix}}), "demo.json");
  EXPECT_EQ(checked_size(matrix.groups[0], 100'000), 2u * 2 * 3 * 2 * 2);
}

TEST(MatrixSize, ErrorNamesTheLargestAxes) {
  MatrixGroup group = group_of(4, 10);
  group.axes[2].values.resize(20);
  EXPECT_EQ(
      input_error([&] { checked_size(group, 10'000); }),
      "m.json:3:5: error: the group 'wide' has 20000 cells, limit 10000; largest axes: axis2 (20 "
      "values), "
      "axis0 (10 values), axis1 (10 values) (at /axes/axis0); split it into groups, or leave values out");
}

TEST(MatrixSize, IsKnownWithoutExpanding) {
  // 20^20 is more than 2^64: whoever visits these cells never comes back.
  const std::string error = input_error([&] { checked_size(group_of(20, 20), 100'000); });
  EXPECT_NE(error.find("about 2^86 cells, limit 100000; largest axes: axis0 (20 values)"), std::string::npos)
      << error;
}

TEST(MatrixSize, IsNotFooledByOverflowToASmallNumber) {
  // 2^65 wraps to 0, and 3 * 2^64 to 0 as well.
  EXPECT_NE(input_error([] { checked_size(group_of(65, 2), 100'000); }).find("about 2^65 cells"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::testing
