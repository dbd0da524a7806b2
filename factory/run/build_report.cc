// What a build came to: the outcome of each image, as counts, exit code and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/run/build.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

constexpr auto kOutcomes = enum_names<Outcome>({{Outcome::built, "built"},
                                                {Outcome::up_to_date, "up to date"},
                                                {Outcome::failed, "failed"},
                                                {Outcome::not_reached, "not reached"},
                                                {Outcome::skipped, "skipped"}});

}  // namespace

std::string_view name_of(Outcome outcome) { return kOutcomes.of(outcome); }

std::size_t BuildReport::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(images.begin(), images.end(),
                                                [&](const auto& image) { return image.outcome == outcome; }));
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
  if (std::none_of(forged.begin(), forged.end(), [&](const ForgedStep& one) { return one.key == step.key; }))
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
