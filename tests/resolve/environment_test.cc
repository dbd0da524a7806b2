// The environment of an image: variables that several components set.
#include "factory/oci/documents.h"
#include "factory/resolve/resolve.h"
#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::RecipeDraft;
using testing::Resolver;

// Of the demo's PyTorch, each of whose recipes has the variables that are named after it.
std::map<std::string, std::string> environment_with(
    const std::map<std::string, std::map<std::string, EnvironmentValue>>& of_recipes) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& draft : recipes)
    if (auto found = of_recipes.find(draft.get().name); found != of_recipes.end())
      for (Method& method : draft.get().methods)
        for (const auto& [name, value] : found->second) method.environment[name] = value;
  return Resolver(std::move(recipes)).spec(cell()).environment;
}

TEST(Environment, APathIsPutUponThatOfTheComponentsBefore) {
  auto path = [](const std::string& of_python, const std::string& of_pytorch) {
    return environment_with({{"python", {{"PATH", {of_python}}}}, {"pytorch", {{"PATH", {of_pytorch}}}}})
        .at("PATH");
  };
  EXPECT_EQ(environment_with({{"pytorch", {{"PATH", {"/a:{PATH}"}}}}}).at("PATH"),
            std::string("/a:") + kDefaultPath);
  EXPECT_EQ(path("/b:{PATH}:/c", "/a:{PATH}"), std::string("/a:/b:") + kDefaultPath + ":/c");
  EXPECT_EQ(path("/b", "/a:{PATH}"), "/a:/b");
  EXPECT_EQ(path("/b", "/a"), "/a");
}

// A list of libraries to preload, or of a C library's settings, to which several components add.
TEST(Environment, AVariableIsPutUponThatOfTheComponentsBefore) {
  auto preloaded = [](const std::string& of_python, const std::string& of_pytorch) {
    return environment_with({{"python", {{"LIST", {of_python}}}}, {"pytorch", {{"LIST", {of_pytorch}}}}})
        .at("LIST");
  };
  EXPECT_EQ(preloaded("a.so", "b.so:{LIST}"), "b.so:a.so");
  EXPECT_EQ(preloaded("a.so:{LIST}", "b.so:{LIST}"), "b.so:a.so") << "nothing is below the lowest";
  EXPECT_EQ(preloaded("", "b.so:{LIST}"), "b.so");
  EXPECT_EQ(preloaded("", "{LIST} b.so"), "b.so");
  EXPECT_EQ(preloaded("", "x,{LIST},y"), "x,y") << "one separator goes";
  EXPECT_EQ(preloaded("", "{LIST}"), "");
  EXPECT_EQ(preloaded("a", "{PATH}:b"), "{PATH}:b") << "another variable's";
}

TEST(Environment, AVariableMayBeForImagesWithAComponent) {
  auto environment = [](const ComponentKey& component, const std::string& range = "") {
    const Companion with{component, VersionRange::parse(range)};
    return environment_with({{"pytorch", {{"FLAGS", {"on", with}}}}});
  };
  EXPECT_EQ(environment({Kind::toolchain, "python"}).at("FLAGS"), "on");
  EXPECT_FALSE(environment({Kind::toolchain, "gcc"}).contains("FLAGS"));
  EXPECT_FALSE(environment({Kind::library, "python"}).contains("FLAGS"));
  EXPECT_EQ(environment({Kind::toolchain, "python"}, "3.13").at("FLAGS"), "on");
  EXPECT_FALSE(environment({Kind::toolchain, "python"}, "<3.13").contains("FLAGS"));
}

}  // namespace
}  // namespace kiln
