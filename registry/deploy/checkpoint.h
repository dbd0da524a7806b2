// When an application saves its state, and what tells it to.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "factory/base/json.h"

namespace kiln {

struct JobCheckpoint {
  std::string path;
  std::chrono::seconds interval{0};           // 0: by `failure_rate`, or the application's own
  std::string signal;                         // "" = as deploy() chooses
  std::chrono::seconds before{120};           // the limit of time
  std::optional<double> failure_rate;         // failures of one node in a year
  std::optional<std::chrono::seconds> write;  // time that one checkpoint takes
  std::uint64_t size = 0, bandwidth = 0;      // in place of `write`: bytes, and bytes a second
};

JobCheckpoint read_checkpoint(const JsonNode& node);  // throws Error(input)

// Seconds between failures of a job on `nodes`, of which each fails `rate` times a year of 365 days.
double mean_time_between_failures(double rate, int nodes);
// Seconds that a checkpoint takes. REQUIRES: `write`, or size and bandwidth.
double write_time(const JobCheckpoint& checkpoint);

// The interval, in seconds, that loses the least time where a checkpoint takes `write` and failures are
// `between` apart. Young: J. W. Young, "A first order approximation to the optimum checkpoint interval",
// 1974.
double young_interval(double write, double between);
// J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006, eq. 37.
double daly_interval(double write, double between);

}  // namespace kiln
