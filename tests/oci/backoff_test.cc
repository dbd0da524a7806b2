#include "factory/oci/backoff.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(seconds_until("", 0), std::nullopt);
  EXPECT_EQ(seconds_until("120", 0), 120.0);
  EXPECT_EQ(seconds_until("1.5", 0), 1.5);
  constexpr std::int64_t kDate = 784111777;  // RFC 9110's own, in its three forms
  for (const char* date :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(seconds_until(date, kDate - 30), 30.0) << date;
    EXPECT_EQ(seconds_until(date, kDate + 30), 0.0) << date << ": it is over";
  }
}

TEST(RetryAfter, IsNoneWhereItIsNoTime) {
  for (const char* text : {"soon", "-5", "+5", " 5", "5s", "1.2.3", ".", "inf", "nan", "0x10", "1e9",
                           "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 GMT and more"})
    EXPECT_EQ(seconds_until(text, 0), std::nullopt) << text;
}

TEST(Backoff, Doubles) {
  for (int tries = 1; tries < 10; ++tries) {
    const double longest = std::min(30.0, static_cast<double>(1 << (tries - 1)));
    EXPECT_LE(backoff(tries), longest);
    EXPECT_GE(backoff(tries), longest / 2);
  }
}

}  // namespace
}  // namespace kiln
