#include <gtest/gtest.h>

#include "registry/scaling/speedup.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

using Ranks = std::vector<std::int64_t>;

std::string ranks_refusal(const std::string& text) {
  return input_error([&] { read_rank_list(text, "--ranks"); });
}

TEST(RankList, DoublesStepsAndLists) {
  EXPECT_EQ(read_rank_list("1..512", "--ranks"), (Ranks{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}));
  EXPECT_EQ(read_rank_list("3..20", "--ranks"), (Ranks{3, 6, 12, 20}));
  EXPECT_EQ(read_rank_list("1..9:4", "--ranks"), (Ranks{1, 5, 9}));
  EXPECT_EQ(read_rank_list("24, 2,1,2", "--ranks"), (Ranks{1, 2, 24}));
  EXPECT_EQ(read_rank_list("7..7", "--ranks"), (Ranks{7}));
  EXPECT_EQ(read_rank_list("1,64..256", "--ranks"), (Ranks{1, 64, 128, 256}));
}

TEST(RankList, RefusesEmptyRangesAndMillionsOfPoints) {
  const std::string hint = "; write 1..512 (doubling), 1..64:4 (every fourth) or 1,2,24";
  EXPECT_EQ(ranks_refusal("8..1"), "error: --ranks: the range 8..1 is empty" + hint);
  EXPECT_EQ(ranks_refusal("0..4"), "error: --ranks: 0 ranks; the least is 1 and the most 1048576");
  EXPECT_EQ(ranks_refusal("1..1000000000000"),
            "error: --ranks: 1000000000000 ranks; the least is 1 and the most 1048576");
  EXPECT_EQ(ranks_refusal("1..99999999999999999999"),
            "error: --ranks: 99999999999999999999 ranks; the least is 1 and the most 1048576");
  EXPECT_EQ(ranks_refusal("1..1000000:1"),
            "error: --ranks: 1..1000000:1 are 1000000 numbers of ranks, and 4096 is the most" + hint);
  EXPECT_EQ(ranks_refusal("1..4096:1,1..8000:2"), "error: --ranks: more than 4096 numbers of ranks" + hint);
  EXPECT_EQ(ranks_refusal("1..9:0"), "error: --ranks: 0 ranks; the least is 1 and the most 1048576");
  for (const char* text : {"", "x", "1.5", "nan", "1,,2", "1e3", "+4"})
    EXPECT_NE(ranks_refusal(text).find("is not a number of ranks"), std::string::npos) << text;
  EXPECT_NE(ranks_refusal("-1").find("the least is 1"), std::string::npos);
}

TEST(RankList, NumbersAreFiniteAndOverZero) {
  EXPECT_EQ(read_positive("50e9", "x"), 50e9);
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e999", "1s", "0x1p3 "})
    EXPECT_NE(input_error([&] { read_positive(text, "--seconds"); }).find("is not a number over 0"),
              std::string::npos)
        << text;
  for (const char* text : {"1e-320", "1e-19", "1e19", "1e308"})
    EXPECT_NE(input_error([&] { read_positive(text, "--times"); }).find("is not between 1e-18 and 1e+18"),
              std::string::npos)
        << text << ": quotients of such times are no figures";
}

}  // namespace
}  // namespace kiln::testing
