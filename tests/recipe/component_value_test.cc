#include "factory/recipe/component_value.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

constexpr const char* kPlain = R"({"versions": {"1.0": {}}, "methods": {"pip": {}}})";

bool unknown(const std::string& axes, const std::string& recipe = kPlain) {
  FakeFileSystem files({{"recipes/framework/mine/recipe.json", recipe},
                        {"recipes/base/mine/recipe.json", kPlain},
                        {"mine.json", R"({"name": "mine", "axes": {"framework": ["mine"], )" + axes + "}}"}});
  return names_unknown(RecipeBook::read(files, {"recipes"}), read_matrix(files, "mine.json"));
}

TEST(UnknownNames, AreThoseOfTheMatrix) {
  EXPECT_FALSE(unknown(R"("base": ["mine@1.0", "none"], "version": ["7"], "target": ["zen3"])"));
  EXPECT_TRUE(unknown(R"("base": ["debian@trixie"])"));
  EXPECT_TRUE(unknown(R"("base": ["mine"], "library": ["none", "openblas+mkl"])"));
}

TEST(UnknownNames, AreThoseOfItsRecipes) {
  auto with = [](const std::string& body) {
    return R"({"versions": {"1.0": {}}, "methods": {"pip": {)" + body + "}}}";
  };
  EXPECT_TRUE(unknown(R"("base": ["mine"])",
                      with(R"("needs": [{"kind": "library", "name": "openblas", "version": "*"}])")));
  EXPECT_FALSE(
      unknown(R"("base": ["mine"])", with(R"("needs": [{"kind": "base", "name": "mine", "version": "*"}])")));
  EXPECT_FALSE(unknown(R"("base": ["mine"])", with(R"("nedes": [])"))) << "another mistake";
}

TEST(UnknownNames, AreThoseOfIncludedCells) {
  FakeFileSystem files({{"recipes/framework/mine/recipe.json", kPlain},
                        {"mine.json", R"({"name": "mine", "axes": {"framework": ["mine"]},
                          "include": [{"framework": "pytorch", "version": "2.6.0"}]})"}});
  EXPECT_TRUE(names_unknown(RecipeBook::read(files, {"recipes"}), read_matrix(files, "mine.json")));
}

}  // namespace
}  // namespace kiln::testing
