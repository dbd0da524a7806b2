#include "factory/base/checksummed.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Proven, OnlyTheSameBytesUnderTheSameName) {
  for (const std::string bytes : {"", "text", "a\nb\n"}) {
    const std::string text = with_checksum("name", bytes);
    EXPECT_EQ(without_checksum("name", text), bytes);
    EXPECT_EQ(without_checksum("other", text), std::nullopt);
    EXPECT_EQ(without_checksum("name", text + "x"), std::nullopt);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string damaged = text;
      damaged[at] ^= 1;
      EXPECT_EQ(without_checksum("name", damaged), std::nullopt) << at;
      EXPECT_EQ(without_checksum("name", text.substr(0, at)), std::nullopt) << at;
    }
  }
  EXPECT_EQ(without_checksum("name", ""), std::nullopt);
}

// The name's end and the bytes' beginning cannot be moved against each other.
TEST(Proven, NameAndBytesAreApart) {
  const std::string text = with_checksum("ab", "c");
  std::string moved = text.substr(0, text.find('\n') + 1) + "bc";
  EXPECT_EQ(without_checksum("a", moved), std::nullopt);
}

}  // namespace
}  // namespace kiln
