// Whether the nights of a matrix are in order, for a monitoring system. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factory/night/lease.h"
#include "factory/night/night.h"
#include "factory/night/night_files.h"
#include "factory/site/site.h"

namespace kiln {

// What is known of the nights at one moment.
struct NightWatch {
  std::vector<PastNight> nights;      // oldest first
  std::vector<std::string> damaged;   // reports that cannot be read
  std::optional<NightBegun> begun;    // a night without a report: it runs, or it was killed
  std::optional<LeaseHolder> holder;  // of the lease of the nights
  std::int64_t now = 0;               // seconds since 1970
};

// The night that has begun holds the lease, and gave a sign of life in the last `settings.lease`.
bool is_running(const NightWatch& watch, const NightSettings& settings);

// What is wrong, in one line; "" while all is well: a night that was killed, one that lies in the future, one
// that is overdue or runs for too long, no night yet, or a last night that was not green. A matrix is overdue
// after one and a half times the period of the site file; where that has none, of the last night.
std::string trouble_of(const NightWatch& watch, const NightSettings& settings);

}  // namespace kiln
