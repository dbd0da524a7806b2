#include "factory/base/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kiln {
namespace {

class ParallelCalls {
 public:
  ParallelCalls(std::size_t count, const std::function<void(std::size_t)>& work)
      : count_(count), work_(work) {}

  void run() {
    for (std::size_t number = next_++; number < count_ && !failed_; number = next_++) call(number);
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void call(std::size_t number) {
    try {
      work_(number);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || number < failed_number_) {
        failure_ = std::current_exception();
        failed_number_ = number;
      }
      failed_ = true;
    }
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards what follows
  std::exception_ptr failure_;
  std::size_t failed_number_ = 0;
};

}  // namespace

void in_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  ParallelCalls calls(count, work);
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(count, threads); ++i) {
    try {
      others.emplace_back([&calls] { calls.run(); });
    } catch (const std::system_error&) {  // a limit of this user's: those that there are do it
      break;
    }
  }
  calls.run();
  for (std::thread& other : others) other.join();
  calls.rethrow();
}

void run_both(const std::function<void()>& aside, const std::function<void()>& here) {
  std::future<void> other = std::async(std::launch::async, aside);  // its destructor waits
  here();
  other.get();
}

}  // namespace kiln
