#include "factory/figures/chart_text.h"

#include <gtest/gtest.h>

#include <limits>

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
  const std::vector<std::string> lines = text_lines(std::string(500, 'W'), 100, 12, 99);
  EXPECT_GT(lines.size(), 1u);
  for (const std::string& line : lines) EXPECT_LE(text_width(line, 12), 100) << line;
}

TEST(TextBox, NeverCutsACharacterInTwo) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "漢";
  const std::vector<std::string> lines = text_lines(text, 50, 12, 99);
  EXPECT_GT(lines.size(), 1u);
  for (const std::string& line : lines) EXPECT_EQ(line.size() % 3, 0u) << line;
}

TEST(TextBox, EndsWhereNotEvenOneCharacterFits) {
  EXPECT_EQ(text_lines("ab", 1, 12, 9), (std::vector<std::string>{"a", "b"}));
}

TEST(TextBox, IsWiderForWiderText) {
  EXPECT_GT(text_width("WWW", 12), text_width("iii", 12));
  EXPECT_DOUBLE_EQ(text_width("abc", 24), 2 * text_width("abc", 12));
}

TEST(NumberText, HasFourDigitsThatCount) {
  EXPECT_EQ(number_text(93.7), "93.70");
  EXPECT_EQ(number_text(220.649), "220.6");
  EXPECT_EQ(number_text(1.5), "1.500");
  EXPECT_EQ(number_text(0.012345), "0.01235");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-93.7), "-93.70");
}

TEST(NumberText, SetsThousandsApart) {
  EXPECT_EQ(number_text(999.94), "999.9");
  EXPECT_EQ(number_text(999.96), "1,000");
  EXPECT_EQ(number_text(1234.5), "1,234");
  EXPECT_EQ(number_text(12345678), "12,345,678");
}

TEST(NumberText, SaysNothingOfWhatIsNoNumber) {
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "?");
}

TEST(NumberText, ShowsRatios) {
  EXPECT_EQ(ratio_text(1.134), "1.13");
  EXPECT_EQ(ratio_text(0.7), "0.70");
  EXPECT_EQ(ratio_text(12.44), "12.4");
}

TEST(NumberText, ShowsMemory) {
  EXPECT_EQ(memory_text(0), "");
  EXPECT_EQ(memory_text(924e6), "924 MB");
  EXPECT_EQ(memory_text(12.34e9), "12.3 GB");
}

}  // namespace
}  // namespace kiln
