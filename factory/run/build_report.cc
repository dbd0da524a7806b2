// What a build came to: the outcome of each image, as counts, exit code and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/engine/architecture.h"
#include "factory/run/build.h"
#include "factory/run/failure.h"
#include "factory/state/record_store.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

constexpr auto kOutcomes = enum_names<Outcome>({{Outcome::built, "built"},
                                                {Outcome::up_to_date, "up to date"},
                                                {Outcome::failed, "failed"},
                                                {Outcome::not_reached, "not reached"},
                                                {Outcome::skipped, "skipped"}});

std::optional<FailureRecord> last_failure(const std::string& key, const RecordReader& reader,
                                          const BuildReport& report) {
  if (auto failure = reader.failure(key)) return failure;
  auto told = report.told.find(key);
  if (told == report.told.end()) return std::nullopt;
  FailureRecord failure;
  failure.key = key;
  failure.what = told->second.what;
  failure.log = told->second.log;
  return failure;
}

// The first step, in order of execution, that keeps an image from being whole. Its record is another build's
// where that runs the step again: then what it said to us counts.
void explain_failure(const ResolvedImage& image, const BuildSetup& setup, const BuildReport& report,
                     ImageOutcome& outcome) {
  RecordReader reader(setup.state, setup.files);
  auto failed = [&](const FailureRecord& failure, std::string reason) {
    outcome.outcome = Outcome::failed;
    outcome.reason = std::move(reason);
    outcome.log = failure.log;
    outcome.cause = failure.exit_code;
    outcome.failure = failure.failure;
  };
  auto look = [&](const std::vector<StepTable::Number>& steps, bool tests) {
    for (StepTable::Number step : steps) {
      const std::string key = setup.plan.steps().hex(step);
      const bool is_done = setup.files.exists(tests ? setup.state.test(key) : setup.state.step(key));
      if (is_done && !report.told.contains(key)) continue;
      const auto failure = last_failure(key, reader, report);
      if (!failure) continue;
      const std::string& title = setup.plan.steps().pattern(step).title;
      failed(*failure, fmt::format("{}: {} ({})", title, failure->what, name_of(failure->failure)));
      outcome.step = key;
      return true;
    }
    return false;
  };
  if (look(image.steps(), false) || look(image.tests(), true)) return;
  if (auto failure = last_failure(image.key(), reader, report)) failed(*failure, failure->what);
}

}  // namespace

ImageOutcome outcome_of(const ResolvedImage& image, bool was_built, bool for_this_machine, StateNames& after,
                        const BuildSetup& setup, const BuildReport& report) {
  ImageOutcome outcome;
  outcome.id = image.id();
  outcome.name = image.reference();
  outcome.key = image.key();
  if (after.is_built(image, setup.plan.steps())) {
    outcome.outcome = was_built ? Outcome::up_to_date : Outcome::built;
  } else if (for_this_machine) {
    explain_failure(image, setup, report, outcome);
  } else {
    outcome.outcome = Outcome::skipped;
    outcome.reason = why_not_here(architecture_of(image));
  }
  return outcome;
}

std::string_view name_of(Outcome outcome) { return kOutcomes.of(outcome); }

std::size_t BuildReport::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count(images, outcome, &ImageOutcome::outcome));
}

std::string BuildReport::legend() const {
  std::set<FailureClass> classes;
  for (const ImageOutcome& image : images)
    if (image.reason.ends_with(fmt::format("({})", name_of(image.failure)))) classes.insert(image.failure);
  std::string text;
  for (FailureClass failure : classes) text += explanation_of(failure) + "\n";
  return text;
}

void BuildReport::add(const ForgedStep& step) {
  if (std::ranges::none_of(forged, [&](const ForgedStep& one) { return one.key == step.key; }))
    forged.push_back(step);
}

ExitCode BuildReport::exit_code() const {
  if (interrupted) return ExitCode::interrupted;
  if (!stopped.empty()) return ExitCode::network;
  std::set<ExitCode> causes;
  for (const ImageOutcome& image : images)
    if (image.outcome == Outcome::failed) causes.insert(image.cause);
  if (causes.size() == 1) return *causes.begin();
  if (!images.empty() && count(Outcome::skipped) == images.size()) return ExitCode::tool_missing;
  return count(Outcome::failed) + count(Outcome::not_reached) > 0 ? ExitCode::images_failed : ExitCode::ok;
}

Json to_json(const BuildReport& report) {
  Json images = Json::array();
  for (const ImageOutcome& image : report.images) {
    Json item{
        {"id", image.id}, {"name", image.name}, {"key", image.key}, {"verdict", name_of(image.outcome)}};
    if (!image.reason.empty()) item["reason"] = image.reason;
    if (!image.log.empty()) item["log"] = image.log.string();
    images.push_back(item);
  }
  Json json{{"images", images},
            {"built", report.count(Outcome::built)},
            {"up_to_date", report.count(Outcome::up_to_date)},
            {"failed", report.count(Outcome::failed) + report.count(Outcome::not_reached)},
            {"skipped", report.count(Outcome::skipped)},
            {"steps_run", report.steps_run},
            {"steps_fetched", report.steps_fetched},
            {"seconds", report.seconds}};
  put(json, "stopped", report.stopped);
  return json;
}

}  // namespace kiln
