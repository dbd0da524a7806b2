// Needs with conditions and alternatives, and tests with conditions, through resolve.
#include <fmt/format.h>

#include <algorithm>

#include "factory/recipe/recipe_needs.h"
#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::error_of;
using testing::RecipeDraft;
using testing::Resolver;

using Words = std::vector<std::string>;

// Which components the image has besides PyTorch and what that needs.
Words added(const Resolver& resolver, AxisValues more) {
  Words names;
  for (const ComponentUse& use : resolver.spec(cell(std::move(more))).components)
    if (use.automatic && use.name != "python") names.push_back(use.name);
  std::sort(names.begin(), names.end());
  return names;
}

// The demo, two MPIs, and `horovod` as the test made it.
Resolver with_horovod(RecipeDraft horovod, std::vector<RecipeDraft> more = {}) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  recipes.push_back(std::move(horovod));
  recipes.push_back(RecipeDraft(Kind::distributed, "openmpi", {"5.0", "4.1"}).method("distro", "openmpi"));
  recipes.push_back(RecipeDraft(Kind::distributed, "mpich", {"4.2"}).method("distro", "mpich"));
  for (RecipeDraft& recipe : more) recipes.push_back(std::move(recipe));
  return Resolver(std::move(recipes));
}

RecipeDraft horovod() {
  return RecipeDraft(Kind::distributed, "horovod", {"0.28", "0.20"}).method("pip", "pip install horovod");
}

TEST(NeedsTest, AConditionOnTheOwnVersion) {
  Resolver resolver = with_horovod(horovod().needs_when(Kind::distributed, "openmpi", ">=0.25", ""));
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}}), Words{"openmpi"});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod@0.20"}}), Words{});
}

TEST(NeedsTest, AConditionOnTheTargetByNameOrByWhatItIs) {
  Resolver resolver = with_horovod(horovod().needs_when(Kind::distributed, "openmpi", "", "*nvidia*"));
  resolver.targets().add({"testbed", "broadwell", {"nvidia:sm_61"}, ""});
  resolver.targets().add({"nvidialess", "broadwell", {}, ""});
  AxisValues axes = {{"distributed", "horovod"}};
  auto on = [&](const std::string& target) {
    axes["target"] = target;
    return added(resolver, axes);
  };
  EXPECT_EQ(on("zen3"), Words{});
  EXPECT_EQ(on("zen3,nvidia:sm_80"), Words{"openmpi"});
  EXPECT_EQ(on("testbed"), Words{"openmpi"});
  EXPECT_EQ(on("nvidialess"), Words{"openmpi"});  // a name counts, too
}

TEST(NeedsTest, ABuildNeedMayHaveACondition) {
  RecipeDraft blis(Kind::library, "blis", {"1.1"});
  blis.method("source", "").build("make", {"/opt/kiln/blis"}).build_needs(Kind::toolchain, "gcc");
  blis.get().methods[0].build->needs[0].when.target = "zen*";
  Resolver resolver = with_horovod(horovod(), {blis});
  auto build_steps = [&](const std::string& target) {
    return testing::titles(resolver.spec(cell({{"library", "blis"}, {"target", target}})).stages[0]);
  };
  EXPECT_EQ(build_steps("zen3"), (Words{"rootfs base/debian", "run toolchain/gcc", "run library/blis"}));
  EXPECT_EQ(build_steps("broadwell"), (Words{"rootfs base/debian", "run library/blis"}));
}

TEST(NeedsTest, OfAlternativesTheOneThatTheCellNamesIsTakenElseTheFirst) {
  Resolver resolver =
      with_horovod(horovod().needs_any({{Kind::distributed, "openmpi"}, {Kind::distributed, "mpich"}}));
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}}), Words{"openmpi"});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod+mpich"}}), Words{});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod+openmpi"}}), Words{});
}

// Two allocators: one of them would answer, and which one no name says.
TEST(NeedsTest, OfARoleAnImageHasOneComponent) {
  auto runtime = [](const std::string& name, const std::string& role) {
    RecipeDraft draft = RecipeDraft(Kind::runtime, name, {"1"}).method("distro", "x");
    draft.get().role = role;
    return draft;
  };
  Resolver resolver = with_horovod(
      horovod(), {runtime("tcmalloc", "allocator"), runtime("jemalloc", "allocator"), runtime("onednn", ""),
                  runtime("xnn", ""), runtime("pages", "").needs(Kind::runtime, "jemalloc"),
                  runtime("any", "").needs_any({{Kind::runtime, "jemalloc"}, {Kind::runtime, "onednn"}})});
  auto refused = [&](const std::string& runtimes) { return resolver.reason(cell({{"runtime", runtimes}})); };
  EXPECT_EQ(refused("tcmalloc+jemalloc"), "tcmalloc and jemalloc have the same role: allocator");
  EXPECT_EQ(refused("tcmalloc+pages"), "tcmalloc and jemalloc have the same role: allocator")
      << "it is needed";
  EXPECT_EQ(added(resolver, {{"runtime", "tcmalloc+any"}}), Words{"onednn"}) << "the next alternative";
  EXPECT_EQ(added(resolver, {{"runtime", "tcmalloc+onednn+xnn"}}), Words{}) << "no role is none";
  for (const ComponentUse& use : resolver.spec(cell({{"runtime", "tcmalloc"}})).components)
    EXPECT_EQ(use.role, use.name == "tcmalloc" ? "allocator" : "") << use.name;
}

TEST(NeedsTest, AnAlternativeThatAnotherComponentBringsIsTaken) {
  RecipeDraft nccl =
      RecipeDraft(Kind::library, "nccl", {"2"}).method("distro", "x").needs(Kind::distributed, "mpich");
  Resolver resolver = with_horovod(
      horovod().needs_any({{Kind::distributed, "openmpi"}, {Kind::distributed, "mpich"}}), {nccl});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}, {"library", "nccl"}}), Words{"mpich"});
}

TEST(NeedsTest, AnAlternativeThatCannotBeGivesWayToTheNext) {
  RecipeDraft openmpi = RecipeDraft(Kind::distributed, "openmpi", {"5.0"})
                            .method("distro", "openmpi")
                            .needs(Kind::base, "debian", "bookworm");
  Resolver resolver = with_horovod(
      horovod().needs_any({{Kind::distributed, "openmpi"}, {Kind::distributed, "mpich"}}), {openmpi});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}, {"base", "debian@trixie"}}), Words{"mpich"});
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}, {"base", "debian@bookworm"}}), Words{"openmpi"});
}

TEST(NeedsTest, WhenNoAlternativeCanBeTheReasonNamesThemAll) {
  Resolver resolver =
      with_horovod(horovod().needs_any({{Kind::base, "debian bookworm"}, {Kind::framework, "jax"}}));
  EXPECT_EQ(
      resolver.reason(cell({{"distributed", "horovod"}, {"base", "debian@trixie"}})),
      "horovod needs base debian bookworm or framework jax: horovod needs base debian bookworm; the cell "
      "has debian trixie; horovod needs framework jax; the cell has pytorch 2.6.0");
  EXPECT_EQ(added(resolver, {{"distributed", "horovod"}, {"base", "debian@bookworm"}}), Words{});
}

TEST(NeedsTest, AnAlternativeIsBelowTheOneWhoNeedsIt) {
  Resolver resolver =
      with_horovod(horovod().needs_any({{Kind::distributed, "mpich"}, {Kind::distributed, "openmpi"}}));
  Words titles = testing::titles(resolver.spec(cell({{"distributed", "horovod+openmpi"}})).image_stage());
  EXPECT_EQ(titles.back(), "run distributed/horovod");
}

TEST(NeedsTest, ManyAlternativesThatFailTogetherAreGivenUp) {
  std::vector<RecipeDraft> more;
  RecipeDraft greedy = horovod();
  for (int i = 0; i < 14; ++i) {
    std::string name = fmt::format("l{}", i);
    greedy.needs_any({{Kind::library, name + "a"}, {Kind::library, name + "b"}});
    for (const char* which : {"a", "b"})
      more.push_back(RecipeDraft(Kind::library, name + which, {"1"}).method("distro", "x"));
  }
  // The last choice is impossible, whatever was chosen before.
  greedy.needs_any({{Kind::framework, "jax"}, {Kind::framework, "mxnet"}});
  more.push_back(RecipeDraft(Kind::framework, "mxnet", {"1"}).method("pip", "x"));
  Resolver resolver = with_horovod(std::move(greedy), std::move(more));
  EXPECT_NE(error_of([&] {
              resolver.run(cell({{"distributed", "horovod"}}));
            }).find("more than 1000 combinations of alternatives were tried"),
            std::string::npos);
}

TEST(NeedsTest, ConditionsThatMakeACircleOfThisCellAreAnErrorAndNoOthers) {
  RecipeDraft a =
      RecipeDraft(Kind::library, "a", {"1"}).method("distro", "x").needs_when(Kind::library, "b", "", "zen*");
  RecipeDraft b = RecipeDraft(Kind::library, "b", {"1"}).method("distro", "x").needs(Kind::library, "a");
  Resolver resolver = with_horovod(horovod(), {a, b});
  EXPECT_TRUE(reference_faults(resolver.recipes()).empty());
  EXPECT_EQ(added(resolver, {{"library", "b"}}), Words{"a"});
  EXPECT_NE(error_of([&] {
              resolver.run(cell({{"library", "b"}, {"target", "zen2"}}));
            }).find("library/b → library/a → library/b"),
            std::string::npos);
}

TEST(NeedsTest, AlternativesAreCheckedAgainstTheRecipes) {
  Resolver resolver =
      with_horovod(horovod().needs_any({{Kind::distributed, "openmpi >=6"}, {Kind::distributed, "mpich"}}));
  const auto faults = reference_faults(resolver.recipes());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults.begin()->first, ComponentKey(Kind::distributed, "horovod"));
  EXPECT_NE(faults.begin()->second.format().find("no version of distributed/openmpi is in '>=6'"),
            std::string::npos);
}

TEST(NeedsTest, EveryTestThatHoldsIsAStepOfItsOwn) {
  Resolver resolver = with_horovod(horovod()
                                       .test("import horovod")
                                       .test_when("on a GPU", "*nvidia*")
                                       .test_when("the old way", "", "<0.25"));
  auto tests = [&](AxisValues more) {
    Words titles;
    for (const Step& step : resolver.spec(cell(std::move(more))).tests)
      if (step.component == "distributed/horovod") titles.push_back(step.title);
    return titles;
  };
  EXPECT_EQ(tests({{"distributed", "horovod"}}), Words{"test horovod 0.28 (pip): smoke.sh"});
  EXPECT_EQ(tests({{"distributed", "horovod@0.20"}, {"target", "zen3,nvidia:sm_80"}}),
            (Words{"test horovod 0.20 (pip): smoke.sh", "test horovod 0.20 (pip): smoke1.sh",
                   "test horovod 0.20 (pip): smoke2.sh"}));
}

}  // namespace
}  // namespace kiln
