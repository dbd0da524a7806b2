#include "factory/base/proven.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Proven, OnlyTheSameBytesUnderTheSameName) {
  for (const std::string bytes : {"", "text", "a\nb\n"}) {
    const std::string text = with_proof("name", bytes);
    EXPECT_EQ(proven("name", text), bytes);
    EXPECT_EQ(proven("other", text), std::nullopt);
    EXPECT_EQ(proven("name", text + "x"), std::nullopt);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string damaged = text;
      damaged[at] ^= 1;
      EXPECT_EQ(proven("name", damaged), std::nullopt) << at;
      EXPECT_EQ(proven("name", text.substr(0, at)), std::nullopt) << at;
    }
  }
  EXPECT_EQ(proven("name", ""), std::nullopt);
}

// The name's end and the bytes' beginning cannot be moved against each other.
TEST(Proven, NameAndBytesAreApart) {
  const std::string text = with_proof("ab", "c");
  std::string moved = text.substr(0, text.find('\n') + 1) + "bc";
  EXPECT_EQ(proven("a", moved), std::nullopt);
}

}  // namespace
}  // namespace kiln
