#include "registry/tests_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "registry/record_fields.h"

namespace kiln {

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

Json to_json(const TestsRecord& tests) {
  Json json{{"passed", tests.passed}};
  if (!tests.not_run.empty()) json["not_run"] = tests.not_run;
  return json;
}

TestsRecord tests_record_from_json(const JsonNode& node) {
  node.allow_only({"passed", "not_run"});
  TestsRecord tests{strings_at(node, "passed"), map_at(node, "not_run")};
  std::sort(tests.passed.begin(), tests.passed.end());
  return tests;
}

}  // namespace kiln
