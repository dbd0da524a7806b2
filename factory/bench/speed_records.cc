#include "factory/bench/speed_records.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "factory/bench/session.h"

namespace kiln {
namespace {

// A number over 0 of what the workload printed.
std::optional<double> printed(const BenchRun& run, std::string_view key) {
  const auto found = run.output.find(key);
  if (found == run.output.end() || !found->is_number() || !(found->get<double>() > 0)) return std::nullopt;
  return found->get<double>();
}

std::string printed_word(const nlohmann::json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// nullopt: the unit is not one of a step's time.
std::optional<double> step_seconds(double value, const BenchRun& run) {
  static const std::map<std::string, double, std::less<>> kTimes = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  const std::size_t slash = run.unit.find('/');
  if (slash == run.unit.npos) return std::nullopt;
  const std::string of = run.unit.substr(0, slash), per = run.unit.substr(slash + 1);
  if (const auto time = kTimes.find(of); time != kTimes.end() && (per == "step" || per == "batch"))
    return value * time->second;
  const auto batch = printed(run, "batch");
  const bool samples = of == "images" || of == "samples" || of == "sequences";
  if (per == "s" && samples && batch) return *batch / value;
  return std::nullopt;
}

void add_image(SpeedRecord& record, const BenchRun& run) {
  record.words["framework"] = run.axes.framework;
  record.words["version"] = fmt::format("{} {}", run.axes.framework, run.axes.version);
  record.words["method"] = run.axes.method;
  record.words["target"] = run.axes.target;
  record.words["compilers"] = fmt::format("{}", fmt::join(run.axes.compilers, "+"));
  record.words["libraries"] = fmt::format("{}", fmt::join(run.axes.libraries, "+"));
  record.words["runtimes"] = fmt::format("{}", fmt::join(run.axes.runtimes, "+"));
}

void add_workload(SpeedRecord& record, const BenchRun& run) {
  record.words["workload"] = record.workload = speed_name(run);
  record.words["device"] = printed_word(run.output, "device");
  for (const char* name : {"parameters", "batch", "operations", "activations"})
    if (auto amount = printed(run, name)) record.amounts[name] = *amount;
  record.amounts["ranks"] = ranks_of(run);
  if (run.threads > 0) record.amounts["threads"] = run.threads;
  const auto input = run.output.find("input");
  if (input == run.output.end() || !input->is_object()) return;
  record.words["precision"] = printed_word(*input, "format");
  if (const auto bytes = input->find("bytes");
      bytes != input->end() && bytes->is_number() && bytes->get<double>() > 0)
    record.amounts["input_bytes"] = bytes->get<double>();
}

SpeedRecord record_of(const std::vector<BenchRun>& runs, double seconds) {
  const BenchRun& run = runs.back();
  SpeedRecord record;
  record.seconds = seconds;
  add_image(record, run);
  add_workload(record, run);
  add_host(record, run.host);
  record.image = image_id(run);
  return record;
}

}  // namespace

ModelRecords speed_records(const std::vector<BenchRun>& runs) {
  std::map<std::tuple<std::string, std::string, std::string, int>, std::vector<BenchRun>> groups;
  for (const BenchRun& run : runs_that_count(runs))
    groups[{image_id(run), speed_name(run), session_of(run).host, run.threads}].push_back(run);
  ModelRecords found;
  std::map<std::string, int> other_units;
  for (const auto& [name, group] : groups) {
    const SessionRuns last = by_session(group).back();
    const double median = measurement_of(last.runs).median;
    if (const auto seconds = step_seconds(median, last.runs.back()))
      found.records.push_back(record_of(last.runs, *seconds));
    else
      ++other_units[last.runs.back().unit];
  }
  for (const auto& [unit, count] : other_units)
    found.left_out.push_back(fmt::format("{} in {}: not the time of a step", count, unit));
  return found;
}

}  // namespace kiln
