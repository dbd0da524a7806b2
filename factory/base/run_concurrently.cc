#include "factory/base/run_concurrently.h"

#include <future>

namespace kiln {

void run_concurrently(const std::function<void()>& aside, const std::function<void()>& here) {
  std::future<void> other = std::async(std::launch::async, aside);
  try {
    here();
  } catch (...) {
    other.wait();
    throw;
  }
  other.get();
}

}  // namespace kiln
