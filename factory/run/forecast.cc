#include "factory/run/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "factory/base/text.h"
#include "factory/run/damaged_steps.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// What ends when, with the variance of all that decided it.
struct End {
  double time = 0;
  double variance = 0;
};
const End& later(const End& a, const End& b) { return b.time > a.time ? b : a; }

// A build that is run in thought. Each step begins when those before it have ended and one of the jobs is
// free.
class Rehearsal {
 public:
  Rehearsal(std::size_t steps, int jobs) : ends_(steps), open_(steps), followers_(steps), jobs_(jobs) {}

  void add(std::size_t step, End length, const std::vector<std::size_t>& after) {
    lengths_[step] = length;
    open_[step] = after.size();
    for (std::size_t before : after) followers_[before].push_back(step);
    if (after.empty()) ready_.insert(step);
  }
  void add_running(std::size_t step, End rest) {
    ++busy_;
    running_.emplace(rest.time, step);
    ends_[step] = rest;
  }

  int most_at_once() const { return most_busy_; }

  End run() {
    End last;
    for (fill(last); !running_.empty(); fill(last)) {
      const std::size_t step = running_.top().second;
      running_.pop();
      --busy_;
      last = ends_[step];  // they come in the order of time
      for (std::size_t follower : followers_[step]) {
        before_[follower] = later(before_[follower], last);
        if (--open_[follower] == 0) ready_.insert(follower);
      }
    }
    return last;
  }

 private:
  // A job is free since `now`.
  void fill(const End& now) {
    for (; busy_ < jobs_ && !ready_.empty(); ++busy_) {
      const std::size_t step = *ready_.begin();
      ready_.erase(ready_.begin());
      const End start = later(now, before_[step]);
      ends_[step] = {start.time + lengths_[step].time, start.variance + lengths_[step].variance};
      running_.emplace(ends_[step].time, step);
    }
    most_busy_ = std::max(most_busy_, busy_);
  }

  std::vector<End> ends_;
  std::map<std::size_t, End> lengths_;
  std::map<std::size_t, End> before_;  // the last that a step waited for
  std::vector<std::size_t> open_;      // steps that it still waits for
  std::vector<std::vector<std::size_t>> followers_;
  std::set<std::size_t> ready_;
  std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>,
                      std::greater<>>
      running_;
  int jobs_;
  int busy_ = 0;
  int most_busy_ = 0;
};

std::string rough_duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

bool has_whole_chain(const std::string& key, const StatePaths& state, const FileSystem& files) {
  return unless_error([&] {
    const auto record = RecordReader(state, files).step(key);
    return record && seen_damage(record->chain, BlobStore::reading(state.store())).empty();
  });
}

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

std::string text_of(const std::optional<TimeLeft>& left) {
  if (!left) return "";
  return fmt::format("about {}, give or take {}", rough_duration(left->seconds),
                     rough_duration(std::max(1.0, left->error)));
}

Forecast::Forecast(std::vector<ForecastStep> steps, int jobs) : jobs_(std::max(1, jobs)) {
  for (ForecastStep& step : steps) {
    places_.emplace(step.key, steps_.size());
    steps_.push_back({std::move(step)});
  }
  fill_in_unknown();
}

// As long as the others on average, or none of it.
void Forecast::fill_in_unknown() {
  if (!knows_enough()) return;
  double sum = 0;
  double count = 0;
  for (const Known& known : steps_)
    if (known.step.seconds > 0) {
      sum += known.step.seconds;
      ++count;
    }
  for (Known& known : steps_)
    if (known.step.seconds <= 0) known.step.seconds = known.step.deviation = sum / count;
}

bool Forecast::knows_enough() const {
  std::size_t left = 0;
  std::size_t known = 0;
  for (const Known& one : steps_) {
    if (one.state == State::ended) continue;
    ++left;
    if (one.step.seconds > 0) ++known;
  }
  return left > 0 && 2 * known >= left;
}

void Forecast::start(const std::string& key, double now) {
  auto found = places_.find(key);
  if (found == places_.end()) return;
  steps_[found->second].state = State::runs;
  steps_[found->second].start = now;
}

void Forecast::end(const std::string& key) {
  if (auto found = places_.find(key); found != places_.end()) steps_[found->second].state = State::ended;
}

std::optional<TimeLeft> Forecast::left(double now) const {
  if (!knows_enough()) return std::nullopt;
  Rehearsal rehearsal(steps_.size(), jobs_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& [step, state, start] = steps_[i];
    const double variance = step.deviation * step.deviation;
    if (state == State::runs) rehearsal.add_running(i, {std::max(0.0, start + step.seconds - now), variance});
    if (state != State::waits) continue;
    std::vector<std::size_t> after;
    for (std::size_t before : step.after)
      if (steps_[before].state != State::ended) after.push_back(before);
    rehearsal.add(i, {step.seconds, variance}, after);
  }
  const End last = rehearsal.run();
  return TimeLeft{last.time, std::sqrt(last.variance)};
}

int Forecast::most_at_once() const {
  Rehearsal rehearsal(steps_.size(), jobs_);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    rehearsal.add(i, {std::max(1.0, steps_[i].step.seconds), 0}, steps_[i].step.after);
  rehearsal.run();
  return std::max(1, rehearsal.most_at_once());
}

ClosedSteps closed_steps(const BuildPlan& plan, const ImageNumbers& images, StateNames& names,
                         const StatePaths& state, const FileSystem& files) {
  const StepTable& steps = plan.steps();
  auto lacks = [&](StepTable::Number step) {
    return step != StepTable::kNone && !names.has_step(steps.hex(step));
  };
  ClosedSteps closed;
  for (StepTable::Number step : StepUses(plan, images).steps()) {
    if (steps.pattern(step).kind == StepKind::test) continue;
    if (!lacks(steps.parent(step)) && !lacks(steps.from(step))) continue;
    const std::string key = steps.hex(step);
    if (names.has_step(key) && has_whole_chain(key, state, files)) closed.insert(steps.first(step));
  }
  return closed;
}

std::vector<StepTable::Number> open_steps(const BuildPlan& plan, const ImageNumbers& images,
                                          const ClosedSteps& closed) {
  const StepTable& steps = plan.steps();
  std::vector<StepTable::Number> all = StepUses(plan, images).steps();
  if (closed.empty()) return all;
  std::set<StepTable::Number> needed;
  std::vector<StepTable::Number> next;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    next.push_back(image.steps().back());
    for (StepTable::Number test : image.tests()) next.push_back(test);
  }
  while (!next.empty()) {
    const StepTable::Number step = next.back();
    next.pop_back();
    if (step == StepTable::kNone || !needed.insert(steps.first(step)).second) continue;
    if (closed.contains(steps.first(step))) continue;
    next.push_back(steps.parent(step));
    next.push_back(steps.from(step));
  }
  std::erase_if(all, [&](StepTable::Number step) { return !needed.contains(steps.first(step)); });
  return all;
}

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
