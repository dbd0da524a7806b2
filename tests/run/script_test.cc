// What a script may take of its machine.
#include "factory/run/script.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(CompilersOfStep, TheProcessorsAreDividedAmongTheStepsThatRun) {
  EXPECT_EQ(compilers_of_step(1, 64, 512 * kGiB, 0), 64);
  EXPECT_EQ(compilers_of_step(4, 64, 512 * kGiB, 0), 16);
  EXPECT_EQ(compilers_of_step(8, 4, 512 * kGiB, 0), 1) << "never none";
}

TEST(CompilersOfStep, EachHasTwoGiBOfWhatItMayUse) {
  EXPECT_EQ(compilers_of_step(1, 64, 16 * kGiB, 0), 8);
  EXPECT_EQ(compilers_of_step(2, 64, 16 * kGiB, 0), 4);
  EXPECT_EQ(compilers_of_step(1, 64, 512 * kGiB, 6 * kGiB), 3) << "its own limit";
}

}  // namespace
}  // namespace kiln
