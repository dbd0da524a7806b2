#include "factory/base/enum_names.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

enum class Colour { red, light_blue, none };
constexpr auto kColours = enum_names<Colour>({{Colour::red, "red"}, {Colour::light_blue, "light blue"}});

static_assert(kColours.of(Colour::light_blue) == "light blue");
static_assert(kColours.find("red") == Colour::red);

TEST(EnumNames, GoBothWays) {
  for (const auto& [value, name] : kColours.rows) {
    EXPECT_EQ(kColours.of(value), name);
    EXPECT_EQ(kColours.find(name), value);
  }
  EXPECT_EQ(kColours.of(Colour::none), "");
  EXPECT_EQ(kColours.find("Red"), std::nullopt);
  EXPECT_EQ(kColours.find(""), std::nullopt);
  EXPECT_EQ(kColours.all(), (std::vector<std::string>{"red", "light blue"}));
}

}  // namespace
}  // namespace kiln
