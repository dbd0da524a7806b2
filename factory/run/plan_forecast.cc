#include "factory/run/plan_forecast.h"

#include <fmt/format.h>

#include <map>

#include "factory/base/text.h"
#include "factory/state/step_need.h"

namespace kiln {
namespace {

class PlanForecast {
 public:
  PlanForecast(const BuildPlan& plan, const std::vector<PastRun>& history) : plan_(plan) {
    for (const PastRun& run : history) runs_[run.component].push_back(run);
  }

  void add_step(StepTable::Number number) {
    PastRun step = past_run_of(plan_.steps().pattern(number));
    step.key = plan_.steps().hex(number);
    places_[plan_.steps().first(number)] = steps_.size();
    add(step, {plan_.steps().parent(number), plan_.steps().from(number)});
  }

  void add_image(const ResolvedImage& image) {
    std::vector<StepTable::Number> before = image.tests();
    before.push_back(image.steps().back());
    add(packaging_of(image.key(), image.repository()), before);
  }

  std::vector<ForecastStep> steps() && { return std::move(steps_); }

 private:
  void add(const PastRun& step, const std::vector<StepTable::Number>& before) {
    ForecastStep forecast{step.key};
    const StepNeed need = need_of(step, runs_[step.component]);
    forecast.seconds = need.seconds;
    forecast.deviation = need.deviation;
    for (StepTable::Number number : before) {
      if (number == StepTable::kNone) continue;
      auto place = places_.find(plan_.steps().first(number));
      if (place != places_.end()) forecast.after.push_back(place->second);
    }
    steps_.push_back(std::move(forecast));
  }

  const BuildPlan& plan_;
  std::map<std::string, std::vector<PastRun>> runs_;  // by component
  std::map<StepTable::Number, std::size_t> places_;   // of those that are to be run
  std::vector<ForecastStep> steps_;
};

}  // namespace

PastRun packaging_of(const std::string& key, const std::string& repository) {
  PastRun run;
  run.key = key;
  run.kind = "image";
  run.component = repository;
  return run;
}

Forecast forecast_of(const BuildPlan& plan, const ImageNumbers& images, StateNames& before,
                     const std::vector<PastRun>& history, int jobs, const ClosedSteps& closed) {
  PlanForecast forecast(plan, history);
  for (StepTable::Number step : open_steps(plan, images, closed)) {
    const std::string key = plan.steps().hex(step);
    const bool test = plan.steps().pattern(step).kind == StepKind::test;
    if (!(test ? before.has_test(key) : before.has_step(key))) forecast.add_step(step);
  }
  for (std::uint32_t image : images) forecast.add_image(plan.image(image));
  return {std::move(forecast).steps(), jobs};
}

std::optional<ExpectedBuild> expected_build(const BuildPlan& plan, const ImageNumbers& images,
                                            StateNames& names, const StatePaths& state,
                                            const FileSystem& files, int jobs) {
  const std::vector<PastRun> history = read_history(state.history());
  if (history.empty()) return std::nullopt;
  ImageNumbers open;
  for (std::uint32_t image : images)
    if (!names.is_built(plan.image(image), plan.steps())) open.push_back(image);
  const ClosedSteps closed = closed_steps(plan, open, names, state, files);
  const Forecast forecast = forecast_of(plan, open, names, history, jobs, closed);
  const std::optional<TimeLeft> time = forecast.left(0);
  if (!time) return std::nullopt;
  return ExpectedBuild{forecast.steps(), jobs, *time};
}

std::string text_of(const ExpectedBuild& expected) {
  return fmt::format("expected: {}, for {}, {} at a time", text_of(std::optional(expected.time)),
                     counted(expected.steps, "step"), expected.jobs);
}

}  // namespace kiln
