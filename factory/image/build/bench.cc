#include "image/build/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "image/state/record_files.h"

namespace kiln {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  double rank = q * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<std::size_t>(std::floor(rank));
  std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Time that processors spent, in ticks: all of it, and all but waiting (proc(5), /proc/stat).
struct ProcessorTime {
  double all = 0;
  double busy = 0;
  int processors = 0;
};

ProcessorTime processor_time(const std::string& stat) {
  constexpr int kIdle = 3;
  constexpr int kIoWait = 4;
  constexpr int kFields = 8;  // guest time is in user time already
  ProcessorTime time;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (!name.starts_with("cpu")) continue;
    if (name != "cpu") ++time.processors;
    double ticks = 0;
    for (int field = 0; name == "cpu" && field < kFields && fields >> ticks; ++field) {
      time.all += ticks;
      if (field != kIdle && field != kIoWait) time.busy += ticks;
    }
  }
  return time;
}

double busy_now(const FileSystem& files) {
  const std::string before = files.read("/proc/stat").value_or("");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return busy_processors(before, files.read("/proc/stat").value_or(""));
}

// What a workload may ask of the image it runs in.
std::map<std::string, std::string> workload_environment(const BenchRequest& request) {
  std::map<std::string, std::string> environment = request.image.environment;
  std::string compilers;
  for (const ComponentUse& use : request.image.components) {
    if (use.kind == Kind::compiler) compilers += (compilers.empty() ? "" : " ") + use.name;
    if (use.kind == Kind::framework) {
      environment["KILN_FRAMEWORK_NAME"] = use.name;
      environment["KILN_FRAMEWORK_VERSION"] = use.version.text();
    }
  }
  environment["KILN_COMPILERS"] = compilers;
  return environment;
}

}  // namespace

WorkloadOutput read_workload_output(const std::string& output, const std::string& workload) {
  auto bad = [&](const std::string& why) {
    return Error(ExitCode::images_failed,
                 fmt::format("the last line that the workload '{}' printed {}", workload, why),
                 R"(expected {"unit": "ms/step", "samples": [numbers]})");
  };
  Json json = Json::parse(last_lines(output, 1), nullptr, false);
  if (!json.is_object()) throw bad("is not a JSON object");
  if (!json.contains("unit") || !json["unit"].is_string()) throw bad("has no unit");
  if (!json.contains("samples") || !json["samples"].is_array() || json["samples"].empty())
    throw bad("has no samples");
  WorkloadOutput result{json["unit"].get<std::string>(), {}};
  for (const Json& sample : json["samples"]) {
    if (!sample.is_number() || !(sample.get<double>() > 0))
      throw bad("has a sample that is not a positive number");
    result.samples.push_back(sample.get<double>());
  }
  return result;
}

double busy_processors(const std::string& before, const std::string& now) {
  const ProcessorTime first = processor_time(before);
  const ProcessorTime second = processor_time(now);
  if (second.all <= first.all) return 0;
  return (second.busy - first.busy) / (second.all - first.all) * second.processors;
}

Summary summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

Measurement measure(const BenchRequest& request, const StepSetup& setup) {
  auto record = RecordReader(setup.state, setup.files).step(request.image.last_step().key);
  if (!record)
    throw Error(ExitCode::images_failed, request.image.repository + ":" + request.image.tag + " is not built",
                "run `kiln build` first");
  const Method* method = request.workload.find_method(request.method);
  fs::path log = setup.state.log("bench-" + request.image.key);
  const double busy = busy_now(setup.files);
  CommandResult run = run_in_image(*record, {"/bin/sh", "-eu", method->script}, request.workload.folder,
                                   workload_environment(request), log, true, setup);
  if (run.end == CommandEnd::interrupted || interrupted()) throw Error(ExitCode::interrupted, "interrupted");
  if (!run.ok())
    throw Error(ExitCode::images_failed,
                fmt::format("the workload '{}' failed in {}:{}: {}", request.workload.name,
                            request.image.repository, request.image.tag, last_lines(run.tail, 10)),
                "the whole log is " + log.string());
  WorkloadOutput output = read_workload_output(run.output, request.workload.name);
  Summary summary = summarise(output.samples);
  Measurement measurement;
  measurement.image = request.manifest;
  measurement.key = request.image.key;
  measurement.busy = busy;
  measurement.workload = request.workload.name;
  measurement.unit = output.unit;
  measurement.median = summary.median;
  measurement.low = summary.low;
  measurement.high = summary.high;
  measurement.samples = static_cast<int>(output.samples.size());
  measurement.host = request.host;
  measurement.taken = rfc3339(setup.clock.unix_seconds());
  return measurement;
}

}  // namespace kiln
