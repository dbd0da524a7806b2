// Results of images as a JUnit report, which GitLab, Jenkins and others show. There is no specification: kiln
// writes the form that both of these read (docs.gitlab.com, "Unit test reports"; jenkinsci/junit-plugin).
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

enum class JunitOutcome {
  passed,
  failed,   // the image is wrong: it does not build, or a test fails
  error,    // it could not be tried: something that it needs was missing
  skipped,  // it was not tried: excluded, no such machine, no time
};

struct JunitCase {
  std::string suite;  // images are listed by it
  std::string name;   // which one; readers keep one case of a name, so a second one becomes "name (2)"
  JunitOutcome outcome = JunitOutcome::passed;
  std::string kind;     // of a failure or an error, a word for programs: "build"
  std::string message;  // one line, except for passed: the fault, and the party that must act
  std::string text;     // the end of its log
  std::optional<double> seconds;
};

// Readers refuse what is larger: GitLab 30 MB, and more than 250,000 elements and attributes.
struct JunitLimits {
  std::size_t cases = 20'000;       // beyond these, passed ones are left out first; the title says how many
  std::size_t bytes = 20'000'000;   // of the whole report, for which the texts are cut at their beginnings
  std::size_t text_bytes = 16'384;  // of one text
};

// The report, with a newline at its end. `time` is when it began, "2026-11-23T02:00:00". A report without
// cases is a failure to Jenkins and nothing to GitLab: of a night that did not run, say so in a case.
std::string junit_xml(std::string_view title, std::string_view time, const std::vector<JunitCase>& cases,
                      const JunitLimits& limits = {});

}  // namespace kiln
