// A run: one start of one workload in one image, with every step that it timed and what the machine did
// meanwhile. Format: docs/formats/files.md, schema/runs.schema.json.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "factory/base/digest.h"
#include "factory/record/host_description.h"

namespace kiln {

// Properties of the image that a comparison uses; "" for those that the image lacks.
struct RunAxes {
  std::string framework;
  std::string version;
  std::string method;
  std::string target;
  std::vector<std::string> compilers;    // graph compilers, sorted
  std::string accelerator;               // cpu, or nvidia:sm_90
  std::vector<std::string> libraries{};  // that its cell names, such as openblas; sorted
  std::vector<std::string> runtimes{};   // for example tcmalloc; sorted
};

// The machine around the run.
struct RunConditions {
  double busy = 0;                 // processors that others kept busy just before
  double load = 0;                 // the system's average of one minute, just before
  double steal = 0;                // part of the time of the run that a hypervisor gave to others, 0 to 1
  std::string governor;            // of the processors' frequency, "" where the kernel does not say
  std::vector<std::string> marks;  // the reasons to doubt the run: "under load"; empty: none
};

struct BenchRun {
  std::string workload;           // mnist-cnn; metric_name() where the workload has several metrics
  std::string unit;               // "ms/step"; a rate ends in "/s"
  std::vector<double> samples;    // every timed step in order, warm-up included; positive; never empty
  std::size_t warm = 0;           // index of the first steady sample, less than there are
  std::optional<double> first;    // the first step, in the same unit: where graphs are compiled
  std::uint64_t peak_memory = 0;  // bytes, of all processes of the run; 0: not known
  Digest image;                   // manifest
  std::string key;                // the image's plan key
  std::string name;               // repository:tag
  RunAxes axes;
  bool stock = false;    // the project's own build of that version
  int threads = 0;       // that the workload could use
  std::string affinity;  // processors that it could run on, as Linux lists them: "0-3,8"
  std::map<std::string, std::string> cleared;  // kiln's variables that the workload did not get
  RunConditions conditions;
  HostDescription host;
  std::string taken;                                 // RFC 3339
  std::string kiln;                                  // version that measured, and the commit of its recipes
  int round = 0;                                     // of its session, from 0
  std::string place;                                 // of the image in it: A, B, …
  nlohmann::json output = nlohmann::json::object();  // the workload's output without its samples
  std::string session{};         // in which images took turns (bench/session.h); "" in old runs
  std::string workload_files{};  // digest of the workload's files, 64 hex; "" in old runs

  std::span<const double> steady() const { return std::span(samples).subspan(warm); }
};

// How many seconds the clocks of two machines may be apart before a run counts as one from the future.
inline constexpr std::int64_t kClockTolerance = 600;
// `now` for runs that kiln wrote itself: clocks of two machines may differ, and what it wrote stays.
inline constexpr std::int64_t kAnyDate = std::numeric_limits<std::int64_t>::max() - kClockTolerance;

// Name of a workload's metric in measurements: "language-model.decode". `metric` "": the workload itself.
std::string metric_name(const std::string& workload, const std::string& metric);

// Name under which a speed of the workload is kept: with two processes, or with real input, it is another
// figure. "osu", "osu+2ranks", "resnet50+data".
std::string speed_name(const std::string& workload, int ranks, bool with_data);
std::string speed_name(const BenchRun& run);  // from the workload's report of its ranks and its input
// Whether a speed of this name is one of the workload, under whatever metric.
bool is_speed_of(const std::string& speed, const std::string& workload, int ranks, bool with_data);
int ranks_of(const BenchRun& run);  // 1 where it says nothing
bool has_real_input(const BenchRun& run);

// Marks of runs that other programs disturbed.
inline constexpr const char* kUnderLoad = "under load";
inline constexpr const char* kStolen = "time stolen";
// Whether others were so busy that the run had better be repeated.
bool was_disturbed(const BenchRun& run);

// A greater number of it is the better one: a rate.
bool more_is_better(std::string_view unit);

// The number of this key; 0 without the key. Throws Error(input) if it is negative or not finite.
double not_negative_at(const JsonNode& node, std::string_view key);

Json to_json(const BenchRun& run);
// Strict: an unknown key, a sample that is not positive, a date that is invalid or later than `now` (Unix
// seconds), or a wrong result is an Error(input) with its place.
BenchRun bench_run_from_json(const JsonNode& node, std::int64_t now);

// A file of runs: {"format": 1, "runs": [..]}.
Json runs_to_json(const std::vector<BenchRun>& runs);
std::vector<BenchRun> runs_from_json(const JsonNode& node, std::int64_t now);
// The same from the text of a file, which may be larger than other documents.
std::vector<BenchRun> read_runs(std::string_view text, const std::string& file, std::int64_t now);

}  // namespace kiln
