// How long to wait before a registry is asked again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

inline constexpr double kLongestWait = 300;  // seconds, for a registry that says when to come back

// Seconds before the next try, after `tries` of them: 1, 2, 4 … 30, and up to half of that less, so that
// those who failed together do not come together.
double backoff(int tries);

// Seconds that a Retry-After asks for (RFC 9110, 10.2.3: a number, or a date in any of the three forms of
// 5.6.7); 0 for a date that is over; nullopt without one, and for a time before now, which is a mistake.
std::optional<double> seconds_until(const std::string& retry_after, std::int64_t now);

}  // namespace kiln
