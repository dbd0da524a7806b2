// Two things at once.
#pragma once

#include <functional>

namespace kiln {

// Calls `aside` on a thread of its own and `here` on this one; returns when both have ended. Throws what
// `here` threw, else what `aside` did.
void run_concurrently(const std::function<void()>& aside, const std::function<void()>& here);

}  // namespace kiln
