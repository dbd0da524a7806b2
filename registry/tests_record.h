// What the tests of an image proved where it was built: part of its record (docs/formats.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace kiln {

// A test is named by what it is of: "pytorch 2.6.0 (pip)".
struct TestsRecord {
  std::vector<std::string> passed;             // tried all that they have to try; sorted
  std::map<std::string, std::string> not_run;  // passed, but could not try all of it here: why

  // Why nobody may say that the image was tested where it was built; "" where all of it was.
  std::string why_untested() const;
  bool operator==(const TestsRecord&) const = default;
};

// What is behind it in the last line of a test says why it was not run in full.
inline constexpr std::string_view kNotRun = "not run: ";

// What a test could not try, by the last line that it printed: of "…, not run: there is no GPU here; …" what
// stands before the semicolon. "" where it says nothing of the kind.
std::string not_run_reason(std::string_view last_line);

Json to_json(const TestsRecord& tests);
TestsRecord tests_record_from_json(const JsonNode& node);

}  // namespace kiln
