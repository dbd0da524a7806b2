#include "factory/source/source_file.h"

#include <gtest/gtest.h>

#include "factory/base/text.h"
#include "support/input_errors.h"

namespace kiln {
namespace {

TEST(SourceFiles, CountLines) {
  EXPECT_EQ(SourceFile("f", "a\nb\n").lines(), 2u);
  EXPECT_EQ(SourceFile("f", "a\nb").lines(), 2u);
  EXPECT_EQ(SourceFile("f", "\n\n").lines(), 2u);
  EXPECT_EQ(SourceFile("f", "").lines(), 1u);
}

TEST(SourceFiles, KnowPlaces) {
  const SourceFile file("f", "ab\n\ncd");
  EXPECT_EQ(file.line_of(0), 1);
  EXPECT_EQ(file.line_of(2), 1) << "the line end belongs to its line";
  EXPECT_EQ(file.line_of(3), 2);
  EXPECT_EQ(file.line_of(4), 3);
  EXPECT_EQ(file.line_of(6), 3) << "the end of the text";
  EXPECT_EQ(file.at(5).line, 3);
  EXPECT_EQ(file.at(5).column, 2);
  EXPECT_EQ(file.at(5).file, "f");
}

TEST(SourceFiles, KnowOffsets) {
  const SourceFile file("f", "ab\n\ncd");
  EXPECT_EQ(file.start_of(1), 0u);
  EXPECT_EQ(file.start_of(3), 4u);
  EXPECT_EQ(file.start_of(4), 6u);
  EXPECT_EQ(file.start_of(0), 6u);
  EXPECT_EQ(file.offset_of(3, 2), 5u);
  EXPECT_EQ(file.offset_of(3, 0), 4u);
  EXPECT_EQ(file.offset_of(3, 99), 6u);
  EXPECT_EQ(file.line_text(1), "ab");
  EXPECT_EQ(file.line_text(2), "");
  EXPECT_EQ(file.line_text(3), "cd");
  EXPECT_EQ(file.line_text(4), "");
}

TEST(SourceText, TrimsWhatGoCallsSpace) {
  EXPECT_EQ(trim(" \t\v\f\r\na b\n "), "a b");
  for (const char* space :
       {"\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    EXPECT_EQ(trim(std::string(space) + "a" + space), "a") << space;
    EXPECT_EQ(space_at(space, 0), std::string(space).size()) << space;
  }
  for (const char* other : {"\u200b", "\u2030", "\u00a1", "\u3001", "\u1681", "\u2060"}) {
    EXPECT_EQ(trim(other), other) << "zero width, or no space at all";
    EXPECT_EQ(space_at(other, 0), 0u);
  }
  EXPECT_EQ(trim("\xe2\x80"), "\xe2\x80") << "a sequence that is cut off";
  EXPECT_EQ(trim(" "), "");
  EXPECT_EQ(trim_left(" a "), "a ");
  EXPECT_EQ(trim_right(" a "), " a");
  EXPECT_EQ(space_at("a", 1), 0u);
}

TEST(SourceText, BlanksAreNoLineEnds) {
  for (char c : {' ', '\t', '\v', '\f', '\r'}) EXPECT_TRUE(is_blank(c)) << static_cast<int>(c);
  for (char c : {'\n', 'a', '\0', '\x0e', '\x08'}) EXPECT_FALSE(is_blank(c)) << static_cast<int>(c);
}

TEST(SourceText, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("AZaz[@É"), "azaz[@É");
  EXPECT_EQ(upper_case("AZaz{`é"), "AZAZ{`é");
}

TEST(SourceText, RefusesNulAndTooMuch) {
  EXPECT_NO_THROW(check_source(std::string(kMaxDefinitionBytes, 'a'), "f"));
  EXPECT_EQ(testing::input_error([] { check_source(std::string(kMaxDefinitionBytes + 1, 'a'), "f"); }),
            "f: error: the file has 4194305 bytes, more than 4194304");
  EXPECT_EQ(testing::input_error([] { check_source(std::string_view("a\nbc\0", 5), "f"); }),
            "f:2:3: error: the file contains a NUL byte; Dockerfiles and definition files are text");
  EXPECT_EQ(testing::input_error([] { check_source(std::string_view("\0", 1), "f"); }),
            "f:1:1: error: the file contains a NUL byte; Dockerfiles and definition files are text");
}

}  // namespace
}  // namespace kiln
