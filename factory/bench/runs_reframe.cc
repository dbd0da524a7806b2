#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/median.h"
#include "factory/base/text.h"
#include "factory/bench/exchange.h"

namespace kiln {
namespace {

constexpr const char* kDataVersion = "4.2";
constexpr const char* kSystem = "kiln";

// As ReFrame writes it: 8-4-4-4-12 hex digits. Ours follow from the content, so that the same runs are the
// same session.
std::string uuid_of(std::string_view content) {
  const std::string hex = Digest::of(content).hex();
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20, 12));
}

// ReFrame's names of systems, partitions and environments; also those of our workloads.
std::string plain_name(std::string_view text) {
  std::string name;
  for (char c : text) name += is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' ? c : '_';
  if (name.empty() || !is_letter_or_digit(name.front())) name.insert(name.begin(), 'x');
  constexpr std::size_t kLongest = 128;
  return name.substr(0, kLongest);
}

// "20261124T115800+0000" of an RFC 3339 date in UTC.
std::string reframe_date(const std::string& taken) {
  std::string date;
  for (char c : taken)
    if (is_digit(c) || c == 'T') date += c;
  return date + "+0000";
}

Json testcase_of(const BenchRun& run, const std::string& session, std::size_t number) {
  const std::string partition = plain_name(run.host.cpu.empty() ? "cpu" : run.host.cpu);
  const std::string environ = plain_name(run.name.empty() ? run.key : run.name);
  const double median = median_of({run.steady().begin(), run.steady().end()});
  const std::string hash = Digest::of(run.workload + "\n" + run.key).hex().substr(0, 8);
  Json json = {{"name", run.workload},
               {"display_name", run.workload},
               {"unique_name", run.workload + "_" + hash},
               {"hashcode", hash},
               {"description", "a workload that kiln ran in an image"},
               {"system", kSystem},
               {"partition", partition},
               {"environ", environ},
               {"environment", environ},
               {"result", "pass"},
               {"filename", ""},
               {"prefix", ""},
               {"scheduler", "local"},
               {"fixture", false},
               {"job_completion_time", run.taken},
               {"job_completion_time_unix", unix_seconds_of(run.taken).value_or(0)},
               {"run_index", 0},
               {"session_uuid", session},
               {"uuid", fmt::format("{}:0:{}", session, number)},
               {"perfvalues",
                {{fmt::format("{}:{}:median", kSystem, partition),
                  Json::array({median, 0, nullptr, nullptr, run.unit, "pass"})}}},
               {"kiln", to_json(run)}};
  // What kiln has no word for.
  for (std::string_view key :
       split("stagedir outputdir build_stderr build_stdout job_stderr job_stdout fail_phase fail_reason "
             "time_compile time_performance time_run time_sanity time_setup time_total",
             ' '))
    json[std::string(key)] = nullptr;
  for (const char* key : {"dependencies_actual", "dependencies_conceptual", "job_nodelist"})
    json[key] = Json::array();
  return json;
}

// Reads a report, a test case at a time.
class ReportReader {
 public:
  ReportReader(const JsonNode& report, std::int64_t now) : report_(report), now_(now) {
    const JsonNode session = report.at("session_info");
    begun_ = seconds_at(session, "time_start_unix");
    if (auto host = session.find("hostname"); host && host->is_string()) host_ = host->string();
  }

  std::vector<BenchRun> read() {
    for (const JsonNode& run : report_.at("runs").items())
      for (const JsonNode& test : run.at("testcases").items()) read_test(test);
    return std::move(runs_);
  }

 private:
  static std::optional<std::int64_t> seconds_at(const JsonNode& node, std::string_view key) {
    auto found = node.find(key);
    if (!found || !found->is_number()) return std::nullopt;
    return static_cast<std::int64_t>(found->number());
  }

  static std::string text_of(const JsonNode& node, std::string_view key) {
    auto found = node.find(key);
    return found && found->is_string() ? found->string() : "";
  }

  void read_test(const JsonNode& test) {
    const std::string result = text_of(test, "result");
    if (result != "pass" && result != "success") return;
    if (auto own = test.find("kiln")) return runs_.push_back(bench_run_from_json(*own, now_));
    if (auto values = test.find("perfvalues"); values && values->is_object()) {
      for (const auto& [name, value] : values->members()) read_value(test, name, value);
    } else if (auto list = test.find("perfvars"); list && list->is_array()) {
      for (const JsonNode& variable : list->items())
        add(test, variable.at("name").string(), variable.at("value"), variable.at("unit"));
    }
  }

  // "system:partition:variable": [value, reference, lower, upper, unit, …]
  void read_value(const JsonNode& test, const std::string& name, const JsonNode& value) {
    constexpr std::size_t kUnit = 4;
    const std::vector<JsonNode> parts = value.items();
    if (parts.size() <= kUnit) value.fail("expected [value, reference, lower, upper, unit]");
    if (parts.front().is_null()) return;  // the test did not come so far
    add(test, name.substr(name.rfind(':') + 1), parts.front(), parts[kUnit]);
  }

  void add(const JsonNode& test, const std::string& variable, const JsonNode& value, const JsonNode& unit) {
    BenchRun run;
    run.workload = plain_name(text_of(test, "name") + "." + variable);
    run.unit = unit.is_string() ? unit.string() : "";
    if (run.unit.empty()) unit.fail("a performance value without a unit cannot be compared");
    const double sample = value.number();
    if (!(sample > 0) || !std::isfinite(sample)) value.fail("a sample is greater than 0");
    run.samples = {sample};
    const std::string partition = text_of(test, "partition");
    run.host.model = text_of(test, "system") + (partition.empty() ? "" : ":" + partition);
    const std::string environ = text_of(test, "environ");
    run.name = environ.empty() ? text_of(test, "environment") : environ;
    run.axes.framework = run.name;
    run.taken = date_of(test);
    run.output = {{"from", "ReFrame"}, {"hostname", host_}, {"test", text_of(test, "name")}};
    runs_.push_back(std::move(run));
  }

  std::string date_of(const JsonNode& test) const {
    auto seconds = seconds_at(test, "job_completion_time_unix");
    if (!seconds) seconds = begun_;
    if (!seconds) test.fail("neither the test case nor the session has a date");
    if (*seconds > now_ + kClockTolerance) test.fail("the run is from the future: " + rfc3339(*seconds));
    return rfc3339(*seconds);
  }

  const JsonNode& report_;
  std::int64_t now_;
  std::optional<std::int64_t> begun_;
  std::string host_;
  std::vector<BenchRun> runs_;
};

}  // namespace

std::string runs_to_reframe(const std::vector<BenchRun>& runs) {
  const std::string session = uuid_of(runs_to_json(runs).dump());
  Json cases = Json::array();
  std::string first = runs.empty() ? rfc3339(0) : runs.front().taken;
  std::string last = first;
  for (const BenchRun& run : runs) {
    cases.push_back(testcase_of(run, session, cases.size()));
    first = std::min(first, run.taken);
    last = std::max(last, run.taken);
  }
  const std::int64_t begin = unix_seconds_of(first).value_or(0);
  const std::int64_t end = unix_seconds_of(last).value_or(0);
  Json counts = {{"num_cases", runs.size()}, {"num_failures", 0}, {"num_aborted", 0}, {"num_skipped", 0}};
  Json session_info = {{"data_version", kDataVersion},
                       {"hostname", runs.empty() ? "" : plain_name(runs.front().host.model)},
                       {"uuid", session},
                       {"cmdline", "kiln bench --export"},
                       {"time_start", reframe_date(first)},
                       {"time_start_unix", begin},
                       {"time_end", reframe_date(last)},
                       {"time_end_unix", end},
                       {"time_elapsed", end - begin}};
  session_info.update(counts);
  Json all = {{"run_index", 0}, {"testcases", cases}};
  all.update(counts);
  const Json report = {
      {"session_info", session_info}, {"runs", Json::array({all})}, {"restored_cases", Json::array()}};
  return report.dump(2) + "\n";
}

std::vector<BenchRun> runs_from_reframe(std::string_view text, const std::string& file, std::int64_t now) {
  constexpr JsonLimits kLimits{.bytes = 64u << 20, .members = 5'000'000};
  const JsonDocument document = JsonDocument::parse(text, file, kLimits);
  const JsonNode root = document.root();
  return ReportReader(root, now).read();
}

}  // namespace kiln
