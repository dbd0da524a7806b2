#include "factory/record/host_needs.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(CudaDrivers, MinorVersionCompatibility) {
  EXPECT_EQ(oldest_driver(Version("12.9")).text(), "525.60.13");
  EXPECT_EQ(oldest_driver(Version("12.0.1")).text(), "525.60.13");
  EXPECT_EQ(oldest_driver(Version("11.2")).text(), "450.80.02");
  EXPECT_EQ(oldest_driver(Version("13.0")).text(), "580");
  EXPECT_EQ(oldest_driver(Version("10.1")).text(), "418.39") << "before 11 there is none";
  EXPECT_EQ(oldest_driver(Version("10.0")).text(), "410.48");
}

TEST(CudaDrivers, PtxNeedsTheOneThatCameWithIt) {
  EXPECT_EQ(shipped_driver(Version("12.9.1")).text(), "575.51.03");
  EXPECT_EQ(shipped_driver(Version("11.0")).text(), "450.51.05") << "the release, not its candidate";
  EXPECT_EQ(shipped_driver(Version("10.1.243")).text(), "418.39");
}

TEST(CudaDrivers, WhatTheTableDoesNotKnow) {
  EXPECT_EQ(oldest_driver(Version()).text(), "");
  EXPECT_EQ(oldest_driver(Version("6.5")).text(), "");
  EXPECT_EQ(shipped_driver(Version("12.7")).text(), "") << "there never was one";
  EXPECT_EQ(shipped_driver(Version("12")).text(), "");
  EXPECT_EQ(oldest_driver(Version("130")).text(), "") << "not 13";
}

}  // namespace
}  // namespace kiln
