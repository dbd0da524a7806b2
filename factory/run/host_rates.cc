#include "factory/run/host_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/unique_name.h"

namespace kiln {
namespace {

Error bad_rates(const std::string& why) {
  return Error(ExitCode::images_failed, fmt::format("what the workload '{}' printed {}", kHostRates, why),
               R"(expected {"rates": {"triad": {"unit": "GB/s", "samples": [numbers]}, …}})");
}

// {"unit": "GB/s", "samples": [..]}.
double best_of(const std::string& name, const Json& rate) {
  if (!rate.is_object() || rate.value("unit", Json()) != Json(unit_of_host_rate(name)))
    throw bad_rates(fmt::format("has '{}' not in {}", name, unit_of_host_rate(name)));
  const Json samples = rate.value("samples", Json());
  if (!samples.is_array() || samples.empty()) throw bad_rates(fmt::format("has no samples of '{}'", name));
  double best = 0;
  for (const Json& sample : samples) {
    const double value = sample.is_number() ? sample.get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value))
      throw bad_rates(fmt::format("has a sample of '{}' that is not a positive number", name));
    best = std::max(best, value);
  }
  return best;
}

}  // namespace

Json to_json(const HostRecord& record) {
  Json json = {{"host", to_json(record.host)},
               {"image", record.image},
               {"key", record.key},
               {"threads", record.threads},
               {"taken", record.taken}};
  put(json, "file_system", record.file_system);
  put(json, "marks", record.marks);
  return json;
}

HostRecord host_record_from_json(const JsonNode& node) {
  node.allow_only({"host", "image", "key", "threads", "taken", "file_system", "marks"});
  constexpr int kMostThreadsOfHost = 1 << 20;
  HostRecord record;
  record.host = host_from_json(node.at("host"));
  record.image = node.at("image").string();
  record.key = node.at("key").string();
  if (auto kind = node.find("file_system")) record.file_system = kind->string();
  if (auto marks = node.find("marks")) record.marks = marks->strings();
  record.threads = static_cast<int>(node.at("threads").integer(0, kMostThreadsOfHost));
  record.taken = node.at("taken").string();
  return record;
}

std::map<std::string, double> host_rates_of(const Json& output) {
  const Json printed = output.is_object() ? output.value("rates", Json()) : Json();
  if (!printed.is_object() || printed.empty()) throw bad_rates("has no rates");
  std::map<std::string, double> rates;
  for (const auto& [name, rate] : printed.items()) {
    if (unit_of_host_rate(name).empty()) throw bad_rates(fmt::format("has an unknown rate '{}'", name));
    rates[name] = best_of(name, rate);
  }
  return rates;
}

HostRecord measure_host(const BenchRequest& request, const StepSetup& setup) {
  const BenchRun run = run_workload(request, setup).front();
  HostRecord record;
  record.host = run.host;
  record.host.rates = host_rates_of(run.output);
  record.image = run.name;
  record.key = run.key;
  if (const Json kind = run.output.value("file_system", Json()); kind.is_string())
    record.file_system = kind.get<std::string>();
  record.threads = run.threads;
  record.marks = run.conditions.marks;
  record.taken = run.taken;
  return record;
}

std::optional<HostRecord> known_host(const StatePaths& state, const FileSystem& files,
                                     const HostDescription& host) {
  const fs::path file = state.host(host_name());
  const auto text = files.read(file);
  if (!text) return std::nullopt;
  try {
    HostRecord record = host_record_from_json(JsonDocument::parse(*text, file).root());
    if (is_same_machine(record.host, host)) return record;
  } catch (const Error&) {  // it is measured again
  }
  return std::nullopt;
}

void keep_host(const StatePaths& state, FileSystem& files, const HostRecord& record) {
  files.write(state.host(host_name()), to_json(record).dump(2) + "\n");
}

}  // namespace kiln
