#include "factory/bench/workload_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

class OutputReader {
 public:
  OutputReader(const std::string& output, const std::string& workload)
      : line_(last_lines(output, 1)), workload_(workload) {}

  WorkloadOutput read() {
    Json json = Json::parse(line_, nullptr, false);
    if (!json.is_object()) throw bad(not_json());
    WorkloadOutput result;
    result.metrics = metrics_of(json);
    if (auto threads = json.find("threads"); threads != json.end() && threads->is_number_unsigned())
      result.threads = threads->get<int>();
    json.erase("samples");
    json.erase("metrics");
    need_right_result(json);
    result.rest = std::move(json);
    return result;
  }

 private:
  std::vector<WorkloadMetric> metrics_of(const Json& json) const {
    auto metrics = json.find("metrics");
    if (metrics == json.end()) return {metric_of(json, "")};
    if (json.contains("samples")) throw bad("has both samples and metrics");
    if (!metrics->is_object() || metrics->empty()) throw bad("has no metrics");
    std::vector<WorkloadMetric> found;
    for (const auto& [name, metric] : metrics->items()) {
      if (!is_metric_name(name))
        throw bad(fmt::format("names a metric {}: expected letters, digits, '-' and '_'", Json(name).dump()));
      if (!metric.is_object()) throw bad(fmt::format("is wrong: {} is not a JSON object", name));
      found.push_back(metric_of(metric, name));
    }
    return found;
  }

  WorkloadMetric metric_of(const Json& json, const std::string& name) const {
    const std::string whose = name.empty() ? "" : name + ": ";
    if (!json.contains("unit") || !json["unit"].is_string() || json["unit"].get<std::string>().empty())
      throw bad(whose + "has no unit");
    if (!json.contains("samples") || !json["samples"].is_array() || json["samples"].empty())
      throw bad(whose + "has no samples");
    WorkloadMetric metric;
    metric.name = name;
    metric.unit = json["unit"].get<std::string>();
    std::size_t number = 0;
    for (const Json& sample : json["samples"])
      metric.samples.push_back(time_of(sample, fmt::format("{}sample {}", whose, ++number)));
    if (json.contains("first")) metric.first = time_of(json["first"], whose + "the first step");
    return metric;
  }

  // It stands behind a point in the name of a workload.
  static bool is_metric_name(const std::string& name) {
    constexpr std::size_t kLongest = 32;
    return !name.empty() && name.size() <= kLongest && is_letter_or_digit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
  }

  Error bad(const std::string& why) const {
    return Error(ExitCode::images_failed,
                 fmt::format("the last line that the workload '{}' printed {}", workload_, why),
                 R"(expected {"unit": "ms/step", "samples": [numbers]})");
  }

  std::string not_json() const {
    for (const char* word : {"NaN", "Infinity"})
      if (line_.find(word) != std::string::npos)
        return fmt::format("is not a JSON object: it says {}, which is no number of JSON", word);
    return "is not a JSON object";
  }

  double time_of(const Json& value, const std::string& what) const {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      throw bad(fmt::format("is wrong: {} is not a positive number but {}", what, value.dump()));
    if (!(value.get<double>() > 0))
      throw bad(fmt::format("is wrong: {} is not a positive number but {}: does its clock fall?", what,
                            value.dump()));
    return value.get<double>();
  }

  void need_right_result(const Json& json) const {
    auto result = json.find("result");
    if (result == json.end() || !result->is_object()) return;
    auto ok = result->find("ok");
    if (ok == result->end() || !ok->is_boolean() || ok->get<bool>()) return;
    throw Error(ExitCode::images_failed,
                fmt::format("the workload '{}' computed a wrong result: {}", workload_, result->dump()),
                "a wrong result has no speed");
  }

  std::string line_;
  const std::string& workload_;
};

}  // namespace

WorkloadOutput read_workload_output(const std::string& output, const std::string& workload) {
  return OutputReader(output, workload).read();
}

std::vector<Turn> interleaved(std::size_t images, int rounds) {
  std::vector<Turn> turns;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < images; ++i) turns.push_back({round, round % 2 == 0 ? i : images - 1 - i});
  return turns;
}

std::string place_name(std::size_t image) {
  constexpr std::size_t kLetters = 26;
  std::string name;
  for (std::size_t left = image + 1; left > 0; left = (left - 1) / kLetters)
    name.insert(name.begin(), static_cast<char>('A' + (left - 1) % kLetters));
  return name;
}

}  // namespace kiln
