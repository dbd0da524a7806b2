#include "factory/base/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kiln {
namespace {

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(glob_matches("a*b*c", "a-b-b-d"));
  EXPECT_TRUE(glob_matches("*/lib*.so", "/usr/lib/libm.so")) << "a slash is like any other character";
}

// A matcher that tries every run for every star would not come back.
TEST(Glob, ManyStars) {
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
