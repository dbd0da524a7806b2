#include "factory/run/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <tuple>

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

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string text_of(const std::optional<TimeLeft>& left) {
  if (!left) return "";
  return fmt::format("about {}, give or take {}", duration_text(left->seconds),
                     duration_text(std::max(1.0, left->error)));
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

}  // namespace kiln
