#include "factory/figures/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

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
