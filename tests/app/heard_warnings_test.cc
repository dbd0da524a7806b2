#include "factory/app/heard_warnings.h"

#include <gtest/gtest.h>

#include <thread>

namespace kiln {
namespace {

TEST(HeardWarnings, ALineIsAWarningByItsBeginning) {
  EXPECT_TRUE(is_warning("warning: nothing pins base/debian"));
  EXPECT_TRUE(is_warning("WARNING: hello has other bits"));
  EXPECT_TRUE(is_warning("demo.json:3:4: warning: this exclude matches no cell"));
  EXPECT_TRUE(is_warning("recipes/a/recipe.json: warning: no such method (at /methods)\n  while reading"));
  EXPECT_FALSE(is_warning("done   hello: a warning: it is slow"));
  EXPECT_FALSE(is_warning("hello 2.10 (distro): fast: warning: unused"));
  EXPECT_FALSE(is_warning("error: no\n  warning: yes"));
  EXPECT_FALSE(is_warning(""));
}

TEST(HeardWarnings, EachIsKeptOnceAndInOrder) {
  HeardWarnings heard;
  for (const char* line : {"warning: b", "start  hello", "warning: \x1b[31ma", "warning: b"})
    heard.hear(line);
  EXPECT_EQ(heard.all(), (std::vector<std::string>{"warning: b", "warning: a"}));
}

TEST(HeardWarnings, ThousandsAreCounted) {
  HeardWarnings heard;
  for (int i = 0; i < 510; ++i) heard.hear("warning: " + std::to_string(i));
  ASSERT_EQ(heard.all().size(), 501u);
  EXPECT_EQ(heard.all().back(), "10 more warnings: kiln's log has them all");
}

TEST(HeardWarnings, ComeFromSeveralThreads) {
  HeardWarnings heard;
  std::vector<std::thread> threads;
  for (int one = 0; one < 4; ++one)
    threads.emplace_back([&heard, one] {
      for (int i = 0; i < 50; ++i) heard.hear("warning: " + std::to_string(one * 50 + i));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heard.all().size(), 200u);
}

}  // namespace
}  // namespace kiln
