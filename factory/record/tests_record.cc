#include "factory/record/tests_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_fields.h"

namespace kiln {
namespace {

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::string TestsRecord::why_untested() const {
  if (passed.empty() && not_run.empty()) return "its recipes have no test";
  std::string why;
  for (const auto& [test, reason] : not_run)
    why += fmt::format("{}the test of {} was not run in full: {}", why.empty() ? "" : "; ", test, reason);
  return why;
}

std::string not_run_reason(std::string_view last_line) {
  const std::size_t at = last_line.find(kNotRun);
  if (at == std::string_view::npos) return "";
  std::string_view reason = last_line.substr(at + kNotRun.size());
  reason = reason.substr(0, reason.find(';'));
  return reason.empty() ? "it does not say why" : std::string(reason);
}

std::string TestRun::text() const {
  std::string kind = emulator.empty() ? cpu : "emulated: " + emulator;
  for (const std::string& accelerator : accelerators) kind += (kind.empty() ? "" : ", ") + accelerator;
  if (host.empty()) return kind;
  return kind.empty() ? host : fmt::format("{} ({})", host, kind);
}

std::optional<TestsRecord> test_kinds(const std::optional<TestsRecord>& tests, bool has_accelerators) {
  if (!tests || !tests->why_untested().empty()) return std::nullopt;
  TestsRecord kinds;
  for (const std::string& test : tests->passed) {
    auto run = tests->ran.find(test);
    if (run == tests->ran.end() || run->second.cpu.empty() || !run->second.emulator.empty())
      return std::nullopt;
    TestRun kind;
    kind.cpu = run->second.cpu;
    if (has_accelerators) kind.accelerators = sorted(run->second.accelerators);
    if (has_accelerators && kind.accelerators.empty()) return std::nullopt;
    kinds.ran.emplace(kind.text(), kind);
  }
  for (const auto& [name, kind] : kinds.ran) kinds.passed.push_back(name);
  return kinds;
}

bool is_tested_like(const std::optional<TestsRecord>& kinds, const HostDescription& here) {
  if (!kinds || kinds->passed.empty() || kinds->ran.size() != kinds->passed.size()) return false;
  return std::all_of(kinds->ran.begin(), kinds->ran.end(), [&](const auto& one) {
    const TestRun& kind = one.second;
    return kind.cpu == here.cpu &&
           (kind.accelerators.empty() || kind.accelerators == sorted(here.accelerators));
  });
}

std::string tested_where(const TestsRecord& tests) {
  std::map<std::string, std::string> machines;  // and the last day
  for (const auto& [test, run] : tests.ran) {
    if (tests.not_run.contains(test) || run.text().empty()) continue;
    std::string& day = machines[run.text()];
    day = std::max(day, run.at.substr(0, run.at.find('T')));
  }
  std::string text;
  for (const auto& [machine, day] : machines)
    text += fmt::format("{}{}{}", text.empty() ? "tested on " : "; ", machine, day.empty() ? "" : ", " + day);
  return text;
}

template <typename Fields>
void describe(Fields& fields, TestRun& run) {
  fields.refuse_others(run);
  fields.may("host", run.host);
  fields.may("cpu", run.cpu);
  fields.may("accelerators", run.accelerators);
  fields.may("kernel", run.kernel);
  fields.may("at", run.at);
  fields.may("emulator", run.emulator);
}

template <typename Fields>
void describe(Fields& fields, TestsRecord& tests) {
  fields.refuse_others(tests);
  fields.when(true, "passed", tests.passed);
  fields.may("not_run", tests.not_run);
  fields.may("ran", tests.ran);
}

Json to_json(const TestRun& run) { return fields_of(run); }
Json to_json(const TestsRecord& tests) { return fields_of(tests); }

TestsRecord tests_record_from_json(const JsonNode& node) {
  auto tests = read_as<TestsRecord>(node);
  std::sort(tests.passed.begin(), tests.passed.end());
  return tests;
}

}  // namespace kiln
