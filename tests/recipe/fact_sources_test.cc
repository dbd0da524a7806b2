#include "factory/recipe/fact_sources.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln {
namespace {

std::string recipe(const std::string& facts) {
  return R"({"versions": {"1": {"facts": {)" + facts + R"(}}, "2": {}}})";
}

TEST(StockCompilers, AreNamedByTheRecipesOfTheCompilers) {
  const testing::FakeFileSystem files(
      {{"recipes/compiler/xla/recipe.json", recipe(R"("stock_of": "jax Flax")")},
       {"recipes/compiler/tvm/recipe.json", recipe(R"("python": "3.13")")},
       {"recipes/compiler/glow/recipe.json", recipe("// a comment\n")},
       {"recipes/compiler/broken/recipe.json", "{"},
       {"recipes/compiler/odd/recipe.json", R"({"versions": []})"},
       {"recipes/framework/jax/recipe.json", recipe(R"("stock_of": "nothing")")}});
  EXPECT_EQ(stock_compilers(files, {"absent", "recipes"}),
            (StockCompilers{{"flax", {"xla"}}, {"jax", {"xla"}}}));
  EXPECT_EQ(stock_compilers(files, {}), StockCompilers());
}

TEST(StockCompilers, OfSeveralRecipesTheFirstCounts) {
  const testing::FakeFileSystem files({{"site/compiler/xla/recipe.json", recipe("")},
                                       {"recipes/compiler/xla/recipe.json", recipe(R"("stock_of": "jax")")}});
  EXPECT_EQ(stock_compilers(files, {"site", "recipes"}), StockCompilers());
  EXPECT_EQ(stock_compilers(files, {"recipes", "site"}).size(), 1u);
}

}  // namespace
}  // namespace kiln
