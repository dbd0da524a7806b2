// What a machine can do (memory, arithmetic, disk), measured once by the workload `host-rates` in an image of
// the catalogue, and kept in the state folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/record/host.h"
#include "factory/run/bench.h"

namespace kiln {

inline constexpr const char* kHostRates = "host-rates";  // the workload

struct HostRecord {
  HostDescription host;     // with its rates
  std::string image;        // "repository:tag"; its libraries did the arithmetic
  std::string key;          // of the image
  std::string file_system;  // of the disk's rates
  int threads = 0;
  std::vector<std::string> marks;  // why it is to be taken with care: "under load"
  std::string taken;               // RFC 3339
};

Json to_json(const HostRecord& record);
// Throws Error(input).
HostRecord host_record_from_json(const JsonNode& node);

// The best of the samples of each rate that the workload printed, as STREAM and LINPACK count: others on the
// machine only ever make a rate worse. Throws Error(images_failed) when there are none, or one that kiln does
// not know, of another unit, or with a sample that is no positive number.
std::map<std::string, double> host_rates_of(const Json& output);

// Runs the workload. Throws as run_workload() and host_rates_of().
HostRecord measure_host(const BenchRequest& request, const StepSetup& setup);

// <state>/hosts/<host name>.json. A record that cannot be read, or of a machine of that name with another
// processor or other cores, is none.
std::optional<HostRecord> known_host(const StatePaths& state, const FileSystem& files,
                                     const HostDescription& host);
void keep_host(const StatePaths& state, FileSystem& files, const HostRecord& record);

}  // namespace kiln
