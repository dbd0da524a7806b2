#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace kiln {
namespace {

TEST(Processors, OnlyThoseThatThisProcessMayRunOnCount) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_processors(), static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(), 1u);
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace kiln
