#include "factory/plan/cell_patterns.h"

#include <fmt/format.h>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::axis;
using testing::Resolver;

// Six cells; jax with inductor is excluded twice, as jax has none.
const BuildPlan& demo() {
  static const BuildPlan plan = plan_matrix(
      testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"none", "openblas"}),
                       axis("compiler", {"none", "inductor"}), axis("base", {"debian@trixie"}),
                       axis("target", {"x86_64_v3"}, 9)}),
      Resolver().input());
  return plan;
}

std::size_t images(const CellPatterns& patterns) { return match_cells(demo(), patterns).images.size(); }
std::size_t excluded(const CellPatterns& patterns) { return match_cells(demo(), patterns).excluded.size(); }
ExitCode code_of(const CellPatterns& patterns) {
  try {
    match_cells(demo(), patterns);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}
std::string complaint(const CellPatterns& patterns) {
  try {
    match_cells(demo(), patterns);
  } catch (const Error& error) {
    return error.format();
  }
  return "no error";
}

TEST(CellPatterns, WithoutPatternsAllAreMeant) {
  EXPECT_EQ(images({}), 6u);
  EXPECT_EQ(excluded({}), 2u);
}

TEST(CellPatterns, OneAxisIsAnyOfItsPatternsDifferentAxesAreAll) {
  EXPECT_EQ(images({{"framework=jax"}, {}}), 2u);
  EXPECT_EQ(images({{"framework=jax", "framework=pytorch"}, {}}), 6u);
  EXPECT_EQ(images({{"framework=pytorch", "compiler=inductor"}, {}}), 2u);
  EXPECT_EQ(images({{"framework=*", "compiler=none", "library=openblas"}, {}}), 2u);
}

TEST(CellPatterns, NamesAreIdsTagsAndReferences) {
  const ResolvedImage first = demo().image(0);
  for (const std::string& name : {first.id(), first.tag(), first.reference()})
    EXPECT_EQ(match_cells(demo(), {{name}, {}}).images, ImageNumbers{0}) << name;
  EXPECT_EQ(match_cells(demo(), {{first.tag().substr(0, first.tag().size() - 1) + "?"}, {}}).images,
            ImageNumbers{0})
      << "a glob of a tag";
  EXPECT_EQ(images({{"jax-*"}, {}}), 2u);
  EXPECT_EQ(images({{"jax:*"}, {}}), 2u);
  EXPECT_EQ(images({{"jax-*", "pytorch-*"}, {}}), 6u) << "names are alternatives";
  EXPECT_EQ(images({{"jax-*", "library=openblas"}, {}}), 1u) << "a name and an axis must both hold";
}

TEST(CellPatterns, ExcludeTakesAwayWhatAnyOfItsPatternsMatches) {
  EXPECT_EQ(images({{}, {"framework=jax"}}), 4u);
  EXPECT_EQ(images({{}, {"framework=jax", "library=openblas"}}), 2u);
  EXPECT_EQ(images({{"framework=pytorch"}, {"compiler=inductor"}}), 2u);
}

TEST(CellPatterns, ExcludedCellsAreChosenByTheSamePatterns) {
  EXPECT_EQ(excluded({{"framework=pytorch"}, {}}), 0u);
  EXPECT_EQ(excluded({{"library=openblas"}, {}}), 1u);
  EXPECT_EQ(excluded({{}, {"framework=jax"}}), 0u);
}

TEST(CellPatterns, AnUnknownAxisIsWrongUsage) {
  EXPECT_EQ(code_of({{"framwork=jax"}, {}}), ExitCode::usage);
  EXPECT_EQ(complaint({{"framwork=jax"}, {}}),
            "error: 'framwork=jax': there is no axis 'framwork'; did you mean 'framework'?");
  EXPECT_EQ(complaint({{}, {"gpu=x"}}),
            "error: 'gpu=x': there is no axis 'gpu'; axes: application, base, compiler, distributed, "
            "framework, library, method, optimise, runtime, target, toolchain, version, workload");
}

TEST(CellPatterns, AKnownAxisThatCellsLackIsNone) {
  EXPECT_EQ(images({{"distributed=none"}, {}}), 6u);
  EXPECT_EQ(code_of({{"distributed=horovod"}, {}}), ExitCode::no_match);
}

TEST(CellPatterns, WhatMatchesNothingGetsTheNearestValue) {
  EXPECT_EQ(code_of({{"framework=jaxx"}, {}}), ExitCode::no_match);
  EXPECT_EQ(complaint({{"framework=jaxx"}, {}}),
            "error: no cell of 'demo' matches 'framework=jaxx'; did you mean 'jax'?");
  EXPECT_EQ(complaint({{"framework=tensorflow"}, {}}),
            "error: no cell of 'demo' matches 'framework=tensorflow'; values of 'framework': jax, pytorch");
  EXPECT_EQ(complaint({{"framework=jax version=1"}, {}}),
            "error: no cell of 'demo' matches 'framework=jax version=1'; write each pattern as a separate "
            "argument");
  std::string id = demo().image(0).id();
  EXPECT_EQ(complaint({{id + "x"}, {}}),
            fmt::format("error: no cell of 'demo' matches '{0}x'; did you mean '{0}'?", id));
}

TEST(CellPatterns, WhatOnlyTheMatrixExcludesSaysSo) {
  const std::string id = cell_id(demo().excluded(0).axes);
  EXPECT_EQ(complaint({{id}, {}}),
            fmt::format("error: no cell of 'demo' matches '{}'; the matrix excludes 1 such cell: "
                        "inductor needs framework pytorch >=2.0; the cell has jax 0.10.2",
                        id));
}

TEST(CellPatterns, NothingLeftIsNoMatch) {
  EXPECT_EQ(
      complaint({{"framework=jax", "compiler=inductor"}, {}}),
      "error: no cell of 'demo' matches all of: framework=jax compiler=inductor; patterns of one axis are "
      "alternatives; different axes must all hold");
  EXPECT_EQ(complaint({{"framework=jax"}, {"jax-*"}}),
            "error: no cell of 'demo' is left: --exclude takes all that were chosen");
}

TEST(CellPatterns, TheOnlyCellMayNotBeTakenAwayEither) {
  const BuildPlan one = plan_matrix(testing::matrix({axis("framework", {"pytorch"}), axis("base", {"debian"}),
                                                     axis("target", {"x86_64_v3"}, 9)}),
                                    Resolver().input());
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THROW(match_cells(one, {{}, {"framework=pytorch"}}), Error);
}

TEST(CellPatterns, AnExcludeThatMatchesNothingIsAWarning) {
  EXPECT_EQ(match_cells(demo(), {{}, {"framework=mxnet"}}).warnings,
            std::vector<std::string>{"--exclude 'framework=mxnet' matches no cell of 'demo'"});
  EXPECT_TRUE(match_cells(demo(), {{}, {"framework=jax"}}).warnings.empty());
}

TEST(CellPatterns, BeforeResolveCellsHaveIdsAndAxesButNoTags) {
  const Expansion& cells = demo().resolution().expansion();
  EXPECT_EQ(match_cells(cells, {}).images.size(), 8u) << "also those that cannot be";
  EXPECT_EQ(match_cells(cells, {}).excluded.size(), 0u);
  EXPECT_EQ(match_cells(cells, {{"framework=jax"}, {"compiler=inductor"}}).images, (ImageNumbers{4, 6}));
  EXPECT_EQ(match_cells(cells, {{cells.id(3)}, {}}).images, ImageNumbers{3});
  EXPECT_THROW(match_cells(cells, {{demo().image(0).tag()}, {}}), Error);
}

}  // namespace
}  // namespace kiln
