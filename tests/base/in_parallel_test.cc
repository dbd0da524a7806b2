#include "factory/base/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kiln {
namespace {

TEST(InParallel, CallsEachNumberOnce) {
  for (std::size_t threads : {0u, 1u, 3u, 64u}) {
    std::vector<std::atomic<int>> calls(50);
    in_parallel(calls.size(), threads, [&](std::size_t number) { ++calls[number]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1) << threads;
  }
  in_parallel(0, 4, [](std::size_t) { FAIL() << "there is nothing to do"; });
}

TEST(InParallel, OneThreadGoesInOrder) {
  std::vector<std::size_t> order;
  in_parallel(4, 1, [&](std::size_t number) { order.push_back(number); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(InParallel, CallsRunAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  in_parallel(3, 3, [&](std::size_t) {  // each waits for the others
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return inside == 3; });
  });
  EXPECT_EQ(inside, 3);
}

TEST(InParallel, AFailureEndsItAndIsThrown) {
  std::vector<std::size_t> called;
  try {
    in_parallel(5, 1, [&](std::size_t number) {
      called.push_back(number);
      if (number == 2) throw std::runtime_error("two");
    });
    FAIL() << "it has to throw";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "two");
  }
  EXPECT_EQ(called.size(), 3u);
  EXPECT_THROW(in_parallel(100, 8, [](std::size_t) { throw std::runtime_error("all"); }), std::runtime_error);
}

TEST(RunBeside, EachGoesOnWhileTheOtherWaits) {
  std::promise<void> here_began, aside_began;
  run_both(
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
    run_both(aside, here);
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
