#include "registry/deploy/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "factory/base/text.h"
#include "registry/deploy/job_values.h"
#include "registry/deploy/wall_time.h"
#include "registry/select/dsl_values.h"

namespace kiln {
namespace {

constexpr double kYear = 365.0 * 24 * 3600;

void read_signal(const JsonNode& node, JobCheckpoint& checkpoint) {
  checkpoint.signal = upper_case(node.line_of_text());
  static constexpr std::array kSignals = {"USR2", "USR1", "HUP", "TERM", "INT"};
  if (std::find(kSignals.begin(), kSignals.end(), checkpoint.signal) == kSignals.end())
    node.fail(fmt::format("'{}' is no signal for a checkpoint", checkpoint.signal),
              "USR2, USR1, HUP, TERM or INT");
}

void read_failure_rate(const JsonNode& node, const JsonNode& rate, JobCheckpoint& checkpoint) {
  // Rarer ones make intervals that fit into no number of seconds.
  constexpr double kLeastFailures = 1e-6, kMostFailures = 1e6;
  checkpoint.failure_rate = rate.number();
  if (!(*checkpoint.failure_rate >= kLeastFailures && *checkpoint.failure_rate <= kMostFailures))
    rate.fail("expected the failures of one node in a year, from 0.000001 to 1000000");
  if (checkpoint.interval.count() > 0)
    rate.fail("'interval' is there, too: the interval is given, or follows from the failures",
              "leave one of them out");
  auto write = present(node, "write_time"), size = present(node, "size"),
       bandwidth = present(node, "bandwidth");
  if (write && (size || bandwidth))
    write->fail("'write_time' is the size over the bandwidth: all three are too many");
  if (write) checkpoint.write = read_wall_time(*write);
  if (size) checkpoint.size = read_memory(*size);
  if (bandwidth) checkpoint.bandwidth = read_memory(*bandwidth);
  if (!write && !(size && bandwidth))
    rate.fail("the interval also depends on the time that a checkpoint takes",
              R"(add "write_time": "2m", or "size": "40GB" and "bandwidth": "2GB", which is a second's)");
}

}  // namespace

JobCheckpoint read_checkpoint(const JsonNode& node) {
  JobCheckpoint checkpoint;
  checkpoint.path = read_option(node.at("path"));
  if (auto interval = present(node, "interval")) checkpoint.interval = read_wall_time(*interval);
  if (auto before = present(node, "before")) checkpoint.before = read_wall_time(*before);
  if (auto signal = present(node, "signal")) read_signal(*signal, checkpoint);
  if (auto rate = present(node, "failure_rate")) {
    read_failure_rate(node, *rate, checkpoint);
    return checkpoint;
  }
  for (const char* key : {"write_time", "size", "bandwidth"})
    if (auto value = present(node, key))
      value->fail(fmt::format("'{}' without 'failure_rate', from which the interval follows", key));
  return checkpoint;
}

double mean_time_between_failures(double rate, int nodes) { return kYear / (rate * nodes); }

double write_time(const JobCheckpoint& checkpoint) {
  if (checkpoint.write) return static_cast<double>(checkpoint.write->count());
  return static_cast<double>(checkpoint.size) / static_cast<double>(checkpoint.bandwidth);
}

double young_interval(double write, double between) { return std::sqrt(2 * write * between); }

double daly_interval(double write, double between) {
  if (write >= 2 * between) return between;
  const double share = write / (2 * between);
  return young_interval(write, between) * (1 + std::sqrt(share) / 3 + share / 9) - write;
}

}  // namespace kiln
