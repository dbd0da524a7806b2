#include "factory/base/digest.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(TextHasher, SaysWhatDigestSaysTextAfterText) {
  TextHasher hasher;
  for (const std::string& text :
       {std::string(), std::string("abc"), std::string(1000, 'x'), std::string("abc")})
    EXPECT_EQ(hex_of(hasher.of(text)), Digest::of(text).hex());
  // FIPS 180-2, B.1
  EXPECT_EQ(hex_of(hasher.of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace kiln
