#include "factory/run/pull_line.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln {
namespace {

// What is shown of a pull that takes 25 s, with a wait in its middle.
std::string shown_of_a_pull(ProgressStyle style) {
  testing::FakeClock clock;
  std::string shown;
  auto tell = pull_teller(style, clock, [&](const std::string& text) { shown += text; });
  if (!tell) return "nothing";
  for (std::uint64_t i = 1; i <= 5; ++i) {
    clock.now += 5;
    tell({"docker://x/y:1", i * 1'000'000, 2e5, i == 3 ? "503 Service Unavailable; try 2 of 6 in 1.3 s" : "",
          false});
  }
  tell({"docker://x/y:1", 5'000'000, 0, "", true});
  return shown;
}

TEST(PullLine, IsOneEachTenSecondsAndForEachWait) {
  EXPECT_EQ(shown_of_a_pull(ProgressStyle::plain),
            "pulling docker://x/y:1: 2.0 MB, 0.2 MB/s\n"
            "pulling docker://x/y:1: 503 Service Unavailable; try 2 of 6 in 1.3 s\n"
            "pulling docker://x/y:1: 5.0 MB, 0.2 MB/s\n");
  EXPECT_EQ(shown_of_a_pull(ProgressStyle::none), "nothing");
}

TEST(PullLine, IsRewrittenOnATerminalAndGoes) {
  const std::string shown = shown_of_a_pull(ProgressStyle::tty);
  EXPECT_TRUE(shown.starts_with("\r\x1b[Kpulling docker://x/y:1: 1.0 MB, 0.2 MB/s\r\x1b[Kpulling")) << shown;
  EXPECT_TRUE(shown.ends_with("5.0 MB, 0.2 MB/s\r\x1b[K")) << shown;
  EXPECT_EQ(shown.find('\n'), std::string::npos);
}

TEST(PullLine, IsAnEventForPrograms) {
  const std::string shown = shown_of_a_pull(ProgressStyle::json);
  EXPECT_EQ(shown.substr(0, shown.find('\n')),
            R"({"bytes":2000000,"event":"pull","image":"docker://x/y:1","rate":200000.0})");
  EXPECT_NE(shown.find(R"("waits":"503 Service Unavailable; try 2 of 6 in 1.3 s"})"), std::string::npos);
}

}  // namespace
}  // namespace kiln
