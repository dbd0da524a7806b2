// The same work for many things, several at a time.
#pragma once

#include <cstddef>
#include <functional>

namespace kiln {

// Calls `work` with 0, 1, … `count` - 1, on up to `threads` threads; returns when all calls have ended. After
// a call has thrown, no further one begins; throws what the call with the smallest number threw. With one
// thread, or one call, this thread does it all, in order.
void in_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

// Calls `aside` on a new thread and `here` on this one; returns when both have ended. Throws what `here`
// threw, else what `aside` did.
void run_both(const std::function<void()>& aside, const std::function<void()>& here);

}  // namespace kiln
