#include "factory/distribution/silence.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Silence, IsThatNoByteComes) {
  Silence silence(60, 100);
  EXPECT_FALSE(silence.lasts(0, 160));
  EXPECT_TRUE(silence.lasts(0, 161));
  EXPECT_EQ(silence.text(), "no byte came for 60 s");
}

TEST(Silence, IsThatFewBytesCome) {
  Silence silence(60, 0);
  for (int second = 1; second <= 60; ++second) ASSERT_FALSE(silence.lasts(second * 1000u, second));
  EXPECT_TRUE(silence.lasts(61'000, 61));
  EXPECT_EQ(silence.text(), "fewer than 16 KiB a second for 60 s");
}

TEST(Silence, IsNotThatBytesComeInBursts) {
  Silence silence(60, 0);
  std::uint64_t bytes = 0;
  for (int second = 1; second <= 3600; ++second) {
    if (second % 50 == 0) bytes += 1'000'000;
    ASSERT_FALSE(silence.lasts(bytes, second)) << second;
  }
}

TEST(Silence, BeginsWhereTheBytesEnd) {
  Silence silence(60, 0);
  EXPECT_FALSE(silence.lasts(100u << 20, 30));
  EXPECT_FALSE(silence.lasts(100u << 20, 90));
  EXPECT_TRUE(silence.lasts(100u << 20, 91));
  EXPECT_FALSE(silence.lasts(0, 80)) << "of another answer, after a redirect";
}

TEST(Silence, WithoutALimitNeverEndsAnything) {
  Silence silence(0, 0);
  EXPECT_FALSE(silence.lasts(1, 1e9));
}

}  // namespace
}  // namespace kiln
