#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

TEST(Utf8, Characters) {
  for (std::string text :
       {"", "a", "é", "漢字", "\xf0\x9f\x94\xa5", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "\xc2\x80"})
    EXPECT_EQ(first_not_utf8(text), std::string_view::npos) << text;
}

TEST(Utf8, WhatIsNone) {
  EXPECT_EQ(first_not_utf8("a\x80"), 1u);
  for (std::string text : {"\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x28\xa1", "\xff"})
    EXPECT_EQ(first_not_utf8(text), 0u);
}

}  // namespace
}  // namespace kiln
