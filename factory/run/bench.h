// bench: a workload component run in built images, each start kept as a run and summed up as a Measurement.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "factory/record/host_description.h"
#include "factory/record/image_record.h"
#include "factory/run/step.h"

namespace kiln {

// Options for a workload, in place of its defaults.
struct WorkloadWishes {
  int steps = 0;  // timed ones, 0: as many as it likes
  int ranks = 0;  // processes that work together, 0: one
  fs::path data;  // real input in place of synthetic, "" = none
  bool operator==(const WorkloadWishes&) const = default;
};

struct BenchRequest {
  const ImageSpec& image;
  Digest manifest;  // of the published image
  const Recipe& workload;
  WorkloadWishes wishes;
  bool stock;  // is_stock() of the image
  HostDescription host;
  std::string kiln;  // kiln's version
  int round = 0;
  std::string place;
  std::string session;                            // BenchRun::session
  std::string workload_files;                     // BenchRun::workload_files
  std::map<std::string, std::string> settings{};  // variables in place of the image's own
  std::chrono::seconds wall{0};                   // ended after it; 0: the site's limit
  std::string log{};                              // its name; "": bench-<key of the image>
};

RunAxes run_axes(const ImageSpec& image);

// Whether the image has its framework as the framework's own project publishes it: installed by a method
// that is marked so, or come with a base that is, and run without a graph compiler, a runtime, and a part
// that claims to be faster.
bool is_stock(const ImageSpec& image, const RecipeBook& recipes);

// Starts the workload once in the image, without the variables that tune it from outside, and finds where its
// warm-up ends. A run for each of its metrics, at least one. Disturbances are in the marks. Errors:
// images_failed (the workload failed, or printed no credible result; the message names the log), store (the
// disk was full, or the engine crashed), timeout (it was ended after request.wall), interrupted.
std::vector<BenchRun> run_workload(const BenchRequest& request, const StepSetup& setup);

// The same of a script that prints an objective in place of a measurement. Throws as run_workload().
double run_objective(const BenchRequest& request, const StepSetup& setup);

// The rates of a machine (memory, arithmetic, disk), measured once by the workload `host-rates` in an image
// of the catalogue, and kept in the state folder.
inline constexpr const char* kHostRates = "host-rates";  // the workload

struct HostRecord {
  HostDescription host;     // with its rates
  std::string image;        // "repository:tag"; its libraries did the arithmetic
  std::string key;          // of the image
  std::string file_system;  // of the disk's rates
  int threads = 0;
  std::vector<std::string> marks;  // the reason to doubt it: "under load"
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

// <state>/hosts/<host name>.json. nullopt also for an unreadable record, and for one of a machine of that
// name with another processor or other cores.
std::optional<HostRecord> known_host(const StatePaths& state, const FileSystem& files,
                                     const HostDescription& host);
void keep_host(const StatePaths& state, FileSystem& files, const HostRecord& record);

}  // namespace kiln
