// How long to wait before a registry is asked again.
#pragma once

namespace kiln {

inline constexpr double kLongestWait = 300;  // seconds, for a registry that says when to come back

// Seconds before the next try, after `tries` of them: 1, 2, 4 … 30, and up to half of that less, so that
// those who failed together do not come together.
double backoff(int tries);

}  // namespace kiln
