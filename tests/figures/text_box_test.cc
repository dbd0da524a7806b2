#include "factory/figures/text_box.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

const std::string kLong =
    "tensorflow:2.1.0-a-very-long-name-of-a-build-with-many-words-that-says-all-about-its-libraries-x86_64_"
    "v3";

TEST(TextBox, LeavesShortTextAlone) {
  EXPECT_EQ(text_lines("pytorch 1.4.0", 400, 12, 3), (std::vector<std::string>{"pytorch 1.4.0"}));
  EXPECT_TRUE(text_lines("", 400, 12, 3).empty());
  EXPECT_TRUE(text_lines("   ", 400, 12, 3).empty());
}

TEST(TextBox, BreaksLongNamesBetweenTheirParts) {
  const std::vector<std::string> lines = text_lines(kLong, 300, 12, 9);
  ASSERT_GT(lines.size(), 1u);
  std::string whole;
  for (const std::string& line : lines) {
    EXPECT_LE(text_width(line, 12), 300) << line;
    whole += line;
  }
  EXPECT_EQ(whole, kLong);
  EXPECT_EQ(lines.front().back(), '-');
}

TEST(TextBox, SaysWhereTextIsLeftOut) {
  const std::vector<std::string> lines = text_lines(kLong, 200, 12, 2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines.back().ends_with("…"));
  EXPECT_LE(text_width(lines.back(), 12), 200);
}

TEST(TextBox, BreaksWordsThatHaveNoParts) {
  for (const std::string& line : text_lines(std::string(500, 'W'), 100, 12, 99))
    EXPECT_LE(text_width(line, 12), 100) << line;
}

TEST(TextBox, NeverCutsACharacterInTwo) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "漢";
  for (const std::string& line : text_lines(text, 50, 12, 99)) EXPECT_EQ(line.size() % 3, 0u) << line;
}

TEST(TextBox, EndsWhereNotEvenOneCharacterFits) {
  EXPECT_EQ(text_lines("ab", 1, 12, 9), (std::vector<std::string>{"a", "b"}));
}

TEST(TextBox, IsWiderForWiderText) {
  EXPECT_GT(text_width("WWW", 12), text_width("iii", 12));
  EXPECT_DOUBLE_EQ(text_width("abc", 24), 2 * text_width("abc", 12));
}

}  // namespace
}  // namespace kiln
