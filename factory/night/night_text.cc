#include "factory/night/night_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/report/junit.h"

namespace kiln {
namespace {

constexpr std::size_t kMostLines = 40;  // of one kind; the report has them all

std::string counts_text(const NightReport& report) {
  const std::size_t good =
      report.count(Verdict::built) + report.count(Verdict::mended) + report.count(Verdict::unchanged);
  std::string text = fmt::format("{} of {} good", good, counted(report.images.size(), "image"));
  for (Verdict verdict : {Verdict::built, Verdict::mended, Verdict::failed, Verdict::unplanned,
                          Verdict::not_reached, Verdict::no_time, Verdict::no_machine})
    if (const std::size_t count = report.count(verdict); count > 0)
      text += fmt::format(", {} {}", count, name_of(verdict));
  return text;
}

std::string quantity_text(const std::string& what, double value) {
  if (what == "bytes") return fmt::format("{:.1f} MB", value / 1e6);
  if (what == "seconds") return fmt::format("{:.1f} s", value);
  return fmt::format("{:.4g}", value);
}

void add_lines(std::string& text, const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += title + "\n";
  for (std::size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMostLines)
    text += fmt::format("  {} more: the report has them all\n", lines.size() - kMostLines);
  text += "\n";
}

std::vector<std::string> lines_of(const NightReport& report, bool (*is_wanted)(const NightImage&)) {
  std::vector<std::string> lines;
  for (const NightImage& image : report.images)
    if (is_wanted(image))
      lines.push_back(image.name + ": " + verdict_text(image) +
                      (image.why.empty() ? "" : " (" + image.why.front() + ")"));
  return lines;
}

std::string shared_text(const std::map<std::string, std::string>& axes) {
  std::string text;
  for (const auto& [axis, value] : axes) text += (text.empty() ? "" : ", ") + axis + "=" + value;
  return text;
}

constexpr std::size_t kLongestCause = 200;  // bytes, in a headline

// The first cause that each actor has, in the order of what an operator must look at first.
struct ActorCauses {
  std::string first;
  std::size_t more = 0;
};

std::map<Actor, ActorCauses> causes_by_actor(const NightReport& report) {
  std::map<Actor, ActorCauses> found;
  auto add = [&](Actor actor, const std::string& what) {
    ActorCauses& causes = found[actor];
    if (causes.first.empty())
      causes.first = what;
    else
      ++causes.more;
  };
  for (const NightTrouble& trouble : report.troubles) add(trouble.actor, trouble.what);
  for (const FailureGroup& group : report.failures) add(group.actor, group.what);
  if (report.state != NightState::held) return found;
  const auto closed =
      std::ranges::find_if(report.gate, [](const GateJob& job) { return !job.missing.empty(); });
  if (closed == report.gate.end())  // an administrator went back to an earlier snapshot
    add(Actor::site,
        fmt::format("the index is held at snapshot {} until `kiln index release`", report.snapshot));
  else if (found.empty())
    add(Actor::nobody, fmt::format("gate '{}' waits for {}", closed->name, closed->missing.front()));
  return found;
}

std::string acting_text(Actor actor, const ActorCauses& causes) {
  const std::string first = causes.first.size() > kLongestCause
                                ? without_controls(causes.first.substr(0, kLongestCause)) + "…"
                                : causes.first;
  return fmt::format(
      "; {}: {}{}",
      actor == Actor::nobody ? "no action needed yet" : fmt::format("{} must act", name_of(actor)), first,
      causes.more == 0 ? "" : fmt::format(" (and {})", counted(causes.more, "more cause")));
}

// An image that needs an action is a failure; one that the next night can mend is an error.
JunitOutcome junit_outcome(const NightImage& image) {
  if (is_good(image.verdict)) return JunitOutcome::passed;
  if (!has_failed(image.verdict)) return JunitOutcome::skipped;
  const bool can_mend = image.verdict == Verdict::failed && image.failure == FailureClass::infrastructure;
  return can_mend ? JunitOutcome::error : JunitOutcome::failed;
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

std::string night_title(const NightReport& report) {
  return fmt::format("{}, night {}: {}: {}", report.matrix, report.number, name_of(report.state),
                     counts_text(report));
}

std::string night_headline(const NightReport& report) {
  std::string text = night_title(report);
  const auto causes = causes_by_actor(report);
  for (Actor actor : {Actor::site, Actor::recipe, Actor::nobody})
    if (auto found = causes.find(actor); found != causes.end()) text += acting_text(actor, found->second);
  return text;
}

std::string trouble_text(const NightTrouble& trouble) {
  const bool says_subject =
      trouble.subject.empty() || trouble.what.find(trouble.subject) != std::string::npos;
  std::string text = says_subject ? trouble.what : trouble.subject + ": " + trouble.what;
  if (!trouble.advice.empty())
    text += fmt::format("; {}{}",
                        trouble.actor == Actor::nobody ? "" : fmt::format("{}: ", name_of(trouble.actor)),
                        trouble.advice);
  return text;
}

std::string verdict_text(const NightImage& image) {
  std::string text(name_of(image.verdict));
  if (!image.what.empty()) text += ": " + image.what;
  if (!image.advice.empty())
    text +=
        fmt::format("; {}{}", image.actor == Actor::nobody ? "" : fmt::format("{}: ", name_of(image.actor)),
                    image.advice);
  return text;
}

std::string failure_text(const FailureGroup& group) {
  const std::string shared = shared_text(group.shared);
  std::string text = fmt::format(
      "{}{}: {}", counted(group.cells.size(), "image"),
      shared.empty() ? "" : (group.cells.size() > 1 ? ", all with " : " with ") + shared, group.what);
  for (const std::string& other : group.also) text += "; also: " + other;
  return text;
}

std::vector<std::string> remedy_lines(const FailureGroup& group) {
  std::vector<std::string> lines;
  for (const auto& entry : group.exclude) lines.push_back("an exclude for them: " + Json(entry).dump());
  for (const std::string& place : group.includes)
    lines.push_back(fmt::format("remove the include at {}: an exclude does not remove its cells", place));
  return lines;
}

std::string steps_text(const NightReport& report) {
  return fmt::format("{} run here, {} fetched from other builders", counted(report.steps_run, "step"),
                     report.steps_fetched);
}

std::string gate_text(const GateJob& job) {
  if (job.missing.empty())
    return fmt::format("gate '{}' is open: {} good", job.name, counted(job.cells, "image"));
  return fmt::format("gate '{}' is closed: {} of {} missing: {}{}", job.name, job.missing.size(),
                     counted(job.cells, "image"), job.missing.front(), job.missing.size() > 1 ? ", …" : "");
}

std::string trend_text(const Trend& trend) {
  return fmt::format("{}: {} {} → {} ({:+.0f} %) {} night {}", trend.name, trend.what,
                     quantity_text(trend.what, trend.before), quantity_text(trend.what, trend.after),
                     trend.before == 0 ? 0 : (trend.after / trend.before - 1) * 100,
                     trend.suspected ? "perhaps since" : "since", trend.night);
}

std::string night_text(const NightReport& report) {
  std::string text;
  std::vector<std::string> lines;
  for (const NightTrouble& trouble : report.troubles) lines.push_back(trouble_text(trouble));
  add_lines(text, "trouble of this night", lines);
  add_lines(text, "remarks", report.remarks);
  add_lines(text, "warnings", report.warnings);
  add_lines(text, "the lockfile was moved", report.lock.changes);
  add_lines(text, "moved upstream, and not counted yet", report.lock.held);
  add_lines(text, "newer versions to look at", report.lock.proposals);
  add_lines(text, "could not be asked", report.lock.problems);
  add_lines(text, "built", lines_of(report, [](const NightImage& image) {
              return image.verdict == Verdict::built || image.verdict == Verdict::mended;
            }));
  add_lines(text, "not good",
            lines_of(report, [](const NightImage& image) { return !is_good(image.verdict); }));
  lines.clear();
  for (const FailureGroup& group : report.failures) {
    lines.push_back(failure_text(group));
    for (const std::string& line : remedy_lines(group)) lines.push_back("  " + line);
  }
  add_lines(text, "causes", lines);
  add_lines(text, "gone from the matrix", report.gone);
  lines.clear();
  for (const Trend& trend : report.trends) lines.push_back(trend_text(trend));
  add_lines(text, "changed", lines);
  for (const GateJob& job : report.gate) text += gate_text(job) + "\n";
  if (report.steps_fetched > 0) text += steps_text(report) + "\n";
  for (const std::string* line : {&report.registry, &report.collected})
    if (!line->empty()) text += *line + "\n";
  text += report.is_new_snapshot ? fmt::format("snapshot {} is new\n", report.snapshot)
          : report.snapshot > 0  ? fmt::format("snapshot {} stays\n", report.snapshot)
                                 : "nothing is published\n";
  return text + night_headline(report) + "\n";
}

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
  const bool is_shown = std::ranges::any_of(cases, is_red);
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
