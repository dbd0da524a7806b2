#include <gtest/gtest.h>

#include "factory/base/json.h"

namespace kiln {
namespace {

TEST(WrittenNumbers, KeepTheZeroThatANumberLoses) {
  EXPECT_EQ(written_numbers(R"({"a": 2.10, "b": {"c/~": [1, 3.00, {}, "2.20", [9.990]]}, "d": 2.1})"),
            (WrittenNumbers{{"/a", "2.10"}, {"/b/c~1~0/1", "3.00"}, {"/b/c~1~0/4/0", "9.990"}}));
  EXPECT_EQ(written_numbers("4.50"), (WrittenNumbers{{"", "4.50"}}));
}

TEST(WrittenNumbers, OthersAreWhatTheyAre) {
  EXPECT_EQ(written_numbers(R"({"a": 2.1, "b": 1.0, "c": 10, "d": "2.10", "e": 2.10e1, "f": -2.10})"),
            WrittenNumbers());
  EXPECT_EQ(written_numbers("// of 2.10\n{\"a\": 1 /* 2.10 */}"), WrittenNumbers());
  EXPECT_EQ(written_numbers(""), WrittenNumbers());
}

}  // namespace
}  // namespace kiln
