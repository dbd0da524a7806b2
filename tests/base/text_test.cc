#include "factory/base/text.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kiln {
namespace {

TEST(Utf8, TakesEachLengthOfACharacter) {
  for (std::string text :
       {"", "a", "é", "漢字", "\xf0\x9f\x94\xa5", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "\xc2\x80"})
    EXPECT_EQ(first_not_utf8(text), std::string_view::npos) << text;
}

TEST(Utf8, FindsTheFirstByteThatIsNoCharacter) {
  EXPECT_EQ(first_not_utf8("a\x80"), 1u);
  for (std::string text : {"\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x28\xa1", "\xff"})
    EXPECT_EQ(first_not_utf8(text), 0u);
}

TEST(Text, ANumberIsAllOfTheText) {
  EXPECT_EQ(as_number<unsigned>("12"), 12u);
  EXPECT_EQ(as_number<int>("-12"), -12);
  EXPECT_EQ(as_number<double>("0.25"), 0.25);
  EXPECT_EQ(as_number<unsigned>("17", 8), 15u);
  for (const char* text : {"", "12x", "x12", " 12", "12 ", "-12", "+12", "4294967296"})
    EXPECT_EQ(as_number<unsigned>(text), std::nullopt) << text;
}

TEST(Text, CaseIsOfAsciiAlone) {
  EXPECT_EQ(lower_case("AZ az @[`{ É"), "az az @[`{ É");
  EXPECT_EQ(upper_case("AZ az @[`{ é"), "AZ AZ @[`{ é");
  for (int i = 0; i < 256; ++i) {
    auto c = static_cast<char>(i);
    bool letter =
        std::string_view("abcdefghijklmnopqrstuvwxyz").find(lower_case(c)) != std::string_view::npos;
    bool digit = std::string_view("0123456789").find(c) != std::string_view::npos;
    EXPECT_EQ(is_letter(c), letter) << i;
    EXPECT_EQ(is_digit(c), digit) << i;
    EXPECT_EQ(is_letter_or_digit(c), letter || digit) << i;
  }
}

TEST(Text, TrimmedOnBothSidesOnly) {
  EXPECT_EQ(trimmed("\t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("\v\fa"), "a");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, SplitKeepsEmptyPieces) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(split("", '/'), (Pieces{""}));
  EXPECT_EQ(split("a", '/'), (Pieces{"a"}));
  EXPECT_EQ(split("/a//b/", '/'), (Pieces{"", "a", "", "b", ""}));
  EXPECT_EQ(split("1.2-rc+3", ".-+"), (Pieces{"1", "2", "rc", "3"}));
}

TEST(Text, HexAndControls) {
  EXPECT_TRUE(is_hex("0123456789abcdef"));
  for (const char* text : {"A", "g", "0x1", " "}) EXPECT_FALSE(is_hex(text)) << text;
  for (char c : {'\0', '\n', '\x1f', '\x7f'}) EXPECT_TRUE(is_control(c)) << int{c};
  for (char c : {' ', '~', '\x80', '\xff'}) EXPECT_FALSE(is_control(c)) << int{c};
}

TEST(Text, PercentEncodedByBytes) {
  EXPECT_EQ(percent_encoded("aZ0-/ %\xc3\xa9", "-/"), "aZ0-/%20%25%C3%A9");
  EXPECT_EQ(percent_encoded("-/", ""), "%2D%2F");
}

TEST(Text, LastPartOfAPath) {
  EXPECT_EQ(last_part("a/b/c"), "c");
  EXPECT_EQ(last_part("c"), "c");
  EXPECT_EQ(last_part("a/"), "");
}

TEST(Text, LastLinesAsATerminalMayShowThem) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc");
  EXPECT_EQ(last_lines("a", 5), "a");
  EXPECT_EQ(last_lines("", 5), "");
  EXPECT_EQ(last_lines("\033[31mred\033[0m \007bell\033]0;title\007", 5), "red bell");
  EXPECT_EQ(last_lines("10 %\r20 %\r100 %\r\n", 2), "20 %\n100 %");
}

TEST(Text, WithoutControlsIsWhatATerminalOnlyShows) {
  auto plain = [](std::string_view text) { return without_controls(text); };
  EXPECT_EQ(plain("a\tb\nc → é 日 😀"), "a\tb\nc → é 日 😀");
  for (const char* sequence :
       {"\033[2J", "\033[38;5;1m", "\033]0;title\007", "\033]8;;http://x\033\\", "\033P+q\033\\", "\033(B",
        "\033c", "\033", "\033[", "\033]0;", "\r", "\b", "\x7f", "\u0085", "\u009f"})
    EXPECT_EQ(plain(std::string("a") + sequence), "a") << sequence + 1;
  EXPECT_EQ(plain(std::string_view("a\0b", 3)), "ab");
  EXPECT_EQ(plain("\033[31mred\033[0m text"), "red text");
  EXPECT_EQ(plain("a\x9b"
                  "2Jb\xff"),
            "a\uFFFD2Jb\uFFFD");
  EXPECT_EQ(plain("\u00a0"), "\u00a0");
}

TEST(Text, WithoutControlsShowsWhatHasNoShape) {
  EXPECT_EQ(without_controls("\u202Egnp.exe"), "[U+202E]gnp.exe");
  EXPECT_EQ(without_controls("a\u2028b\u200Bc\uFEFF"), "a[U+2028]b[U+200B]c[U+FEFF]");
  EXPECT_EQ(without_controls("\U000E0041"), "[U+E0041]");
  EXPECT_EQ(without_controls("\u00AD\u061C\u2066\u2069"), "[U+00AD][U+061C][U+2066][U+2069]");
  for (const char* text : {"Größe", "Ελλάδα", "שלום", "数据", "🔥", "a b-c_d:1.2"})
    EXPECT_EQ(without_controls(text), text);
  EXPECT_EQ(without_controls("cut \xe2\x80"), without_controls(without_controls("cut \xe2\x80")));
}

TEST(Text, OnOneLine) {
  EXPECT_EQ(on_one_line("a\nb\tc\r\033[1md"), "a\\nb\\tcd");
  EXPECT_EQ(on_one_line("\u2028"), "[U+2028]");
  EXPECT_EQ(on_one_line("plain → text"), "plain → text");
}

TEST(Text, CountedInWords) {
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(2, "step"), "2 steps");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(3, "entry", "entries"), "3 entries");
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(glob_matches("a*b*c", "a-b-b-d"));
  EXPECT_TRUE(glob_matches("*/lib*.so", "/usr/lib/libm.so")) << "a slash is like any other character";
}

// A matcher that tries every run for every star would not come back.
TEST(Glob, ManyStarsTakeNoTime) {
  std::string stars;
  for (int i = 0; i < 40; ++i) stars += "a*";
  EXPECT_FALSE(glob_matches(stars + "x", std::string(10'000, 'a')));
  EXPECT_FALSE(glob_matches(std::string(40, '*') + "x", std::string(10'000, 'a')));
}

TEST(Glob, ClassesAndEscapesAreText) {
  EXPECT_TRUE(glob_matches("[a]", "[a]"));
  EXPECT_FALSE(glob_matches("[a]", "a"));
  EXPECT_TRUE(glob_matches("\\*", "\\b"));
}

// fnmatch(3) is the oracle for patterns of stars, question marks and letters.
TEST(Glob, AnswersLikeFnmatch) {
  std::mt19937 random(5);
  auto word = [&](std::string_view letters, std::size_t most) {
    std::string out;
    for (auto size = random() % (most + 1); size > 0; --size) out += letters[random() % letters.size()];
    return out;
  };
  int matches = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = word("ab*?./", 7);
    const std::string text = word("ab./", 8);
    bool expected = ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    EXPECT_EQ(glob_matches(pattern, text), expected) << pattern << " " << text;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 500);
}

}  // namespace

}  // namespace kiln
