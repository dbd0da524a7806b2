#include "factory/night/night_junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/effects.h"
#include "factory/night/night_text.h"
#include "factory/report/junit.h"

namespace kiln {
namespace {

// An image that needs an action is a failure; one that the next night can mend is an error.
JunitOutcome junit_outcome(const NightImage& image) {
  switch (image.verdict) {
    case Verdict::built:
    case Verdict::mended:
    case Verdict::unchanged:
      return JunitOutcome::passed;
    case Verdict::unplanned:
      return JunitOutcome::failed;
    case Verdict::failed:
      return image.failure == FailureClass::infrastructure ? JunitOutcome::error : JunitOutcome::failed;
    case Verdict::not_reached:
    case Verdict::no_time:
    case Verdict::no_machine:
      break;
  }
  return JunitOutcome::skipped;
}

JunitCase passed_case(const std::string& suite, const std::string& name) {
  JunitCase one;
  one.suite = suite;
  one.name = name;
  return one;
}

JunitCase case_of(const NightImage& image, const std::string& suite) {
  JunitCase one = passed_case(suite, image.name);
  one.outcome = junit_outcome(image);
  if (one.outcome != JunitOutcome::passed) {
    one.kind = image.verdict == Verdict::failed ? std::string(name_of(image.failure))
                                                : std::string(name_of(image.verdict));
    one.message = verdict_text(image);
    one.text = image.end_of_log;
  }
  if (image.seconds > 0) one.seconds = image.seconds;
  return one;
}

// A trouble that may pass is an error; one that needs an action is a failure.
JunitCase case_of(const NightTrouble& trouble, const std::string& suite) {
  JunitCase one = passed_case(suite, fmt::format("{}{}{}", name_of(trouble.cause),
                                                 trouble.subject.empty() ? "" : " ", trouble.subject));
  one.outcome = trouble.actor == Actor::nobody ? JunitOutcome::error : JunitOutcome::failed;
  one.kind = name_of(trouble.cause);
  one.message = trouble_text(trouble);
  return one;
}

bool is_red(const JunitCase& one) {
  return one.outcome == JunitOutcome::failed || one.outcome == JunitOutcome::error;
}

}  // namespace

std::string night_junit(const NightReport& report) {
  std::vector<JunitCase> cases;
  for (const NightImage& image : report.images) cases.push_back(case_of(image, report.matrix));
  // One suite: that of the images must not look green when the night is not.
  const std::string& night = report.matrix;
  for (const GateJob& job : report.gate) {
    JunitCase one = passed_case(night, "gate " + job.name);
    if (!job.missing.empty()) {
      one.outcome = JunitOutcome::failed;
      one.kind = "gate";
      one.message = gate_text(job);
    }
    cases.push_back(std::move(one));
  }
  for (const NightTrouble& trouble : report.troubles) cases.push_back(case_of(trouble, night));
  JunitCase whole = passed_case(night, "night");
  // A reader that sees no failed case shows a green night.
  const bool is_shown = std::any_of(cases.begin(), cases.end(), is_red);
  if (report.state == NightState::interrupted || (report.state != NightState::green && !is_shown)) {
    whole.outcome = JunitOutcome::error;
    whole.kind = name_of(report.state);
    whole.message = night_headline(report);
  }
  cases.push_back(std::move(whole));
  std::string started = rfc3339(report.started);
  started.pop_back();  // JUnit's times have no zone
  return junit_xml("kiln nightly of " + report.matrix, started, cases);
}

}  // namespace kiln
