#include "factory/night/gate.h"

#include <gtest/gtest.h>

#include "night/night_values.h"

namespace kiln {
namespace {

using testing::night_image;

TEST(Gate, IsOpenWhenItsCellsAreGood) {
  const std::vector<GateCells> gates{{"stock", {"a", "b"}}, {"tvm", {"c"}}};
  auto jobs = look_at_gates(gates, {night_image("a", Verdict::built), night_image("b", Verdict::unchanged),
                                    night_image("c", Verdict::mended)});
  EXPECT_TRUE(is_open(jobs));
  EXPECT_EQ(jobs[0].cells, 2u);
}

TEST(Gate, NamesWhatKeepsItClosed) {
  for (Verdict verdict : {Verdict::failed, Verdict::unplanned, Verdict::not_reached, Verdict::no_time}) {
    const auto jobs = look_at_gates({{"stock", {"a", "b"}}, {"other", {"a"}}},
                                    {night_image("a", Verdict::built), night_image("b", verdict)});
    EXPECT_FALSE(is_open(jobs)) << name_of(verdict);
    EXPECT_EQ(jobs[0].missing, std::vector<std::string>{"b:1"});
    EXPECT_TRUE(jobs[1].missing.empty());
  }
}

TEST(Gate, AnotherMachinesImagesDoNotCloseIt) {
  EXPECT_TRUE(is_open(look_at_gates({{"g", {"a"}}}, {night_image("a", Verdict::no_machine)})));
}

TEST(Gate, ACellThatIsNowhereClosesIt) {
  EXPECT_FALSE(is_open(look_at_gates({{"g", {"a"}}}, {night_image("b", Verdict::built)})));
}

TEST(Gate, WithoutGatesAllGoesThrough) {
  EXPECT_TRUE(is_open(look_at_gates({}, {night_image("a", Verdict::failed)})));
}

}  // namespace
}  // namespace kiln
