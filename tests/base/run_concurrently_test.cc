#include "factory/base/run_concurrently.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>

namespace kiln {
namespace {

TEST(RunBeside, EachGoesOnWhileTheOtherWaits) {
  std::promise<void> here_began, aside_began;
  run_concurrently(
      [&] {
        aside_began.set_value();
        here_began.get_future().wait();
      },
      [&] {
        here_began.set_value();
        aside_began.get_future().wait();
      });
}

std::string thrown_by(const std::function<void()>& aside, const std::function<void()>& here) {
  try {
    run_concurrently(aside, here);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(RunBeside, WaitsForBothAndThrowsWhatWasThrown) {
  bool ended = false;
  const auto ends = [&] { ended = true; };
  const auto fails = [](const char* what) { return [what] { throw std::runtime_error(what); }; };
  EXPECT_EQ(thrown_by(ends, fails("here")), "here");
  EXPECT_TRUE(ended);
  ended = false;
  EXPECT_EQ(thrown_by(fails("aside"), ends), "aside");
  EXPECT_TRUE(ended);
  EXPECT_EQ(thrown_by(fails("aside"), fails("here")), "here");
}

}  // namespace
}  // namespace kiln
