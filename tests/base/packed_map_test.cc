#include "factory/base/packed_map.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/json_text.h"

namespace kiln {
namespace {

using Map = PackedMap::Map;

TEST(PackedMap, HoldsWhatItWasMadeOf) {
  for (const Map& members :
       {Map{}, Map{{"", ""}}, Map{{"", "no name"}, {"no value", ""}},
        Map{{std::string("a\0b", 3), std::string("\0", 1)}, {"ü", std::string(70'000, 'x')}, {"é", "漢字"}}})
    EXPECT_EQ(PackedMap(members).map(), members);
}

TEST(PackedMap, IsReadInTheOrderOfNames) {
  PackedMap packed(Map{{"b", "2"}, {"a", "1"}, {"c", ""}});
  std::string read;
  for (const auto& [name, value] : packed) read.append(name).append("=").append(value).append(" ");
  EXPECT_EQ(read, "a=1 b=2 c= ");
  EXPECT_EQ(PackedMap().begin(), PackedMap().end());
  EXPECT_NE(packed.begin(), packed.end());
}

TEST(PackedMap, OutlivesAndCopiesItsTexts) {
  PackedMap copy;
  {
    PackedMap packed(Map{{"name", "value"}});
    copy = packed;
  }
  PackedMap moved = std::move(copy);
  EXPECT_EQ(moved.map(), (Map{{"name", "value"}}));
}

TEST(PackedMap, IsWrittenAsTheMapIs) {
  Map members = {{"b", "2"}, {"a\n", "\"1\""}, {"c", ""}};
  std::string out;
  append_json(out, PackedMap(members));
  EXPECT_EQ(out, Json(members).dump());
}

// What a test's environment and an image's labels are made of.
TEST(PackedMap, MergesAsMapsDo) {
  const Map lower = {{"a", "low"}, {"c", "low"}, {"e", "low"}};
  for (const Map& upper : {Map{}, Map{{"b", "up"}, {"c", "up"}}, Map{{"f", "up"}}, lower}) {
    Map both = upper;
    both.insert(lower.begin(), lower.end());
    std::string out;
    append_merged_json(out, PackedMap(lower), PackedMap(upper));
    EXPECT_EQ(out, Json(both).dump());
    out.clear();
    append_merged_json(out, PackedMap(lower), upper);
    EXPECT_EQ(out, Json(both).dump());
  }
}

}  // namespace
}  // namespace kiln
