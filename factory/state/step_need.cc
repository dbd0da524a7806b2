#include "factory/state/step_need.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr std::size_t kRuns = 5;
constexpr double kMarginOfStep = 1.25;
constexpr double kMarginOfOthers = 1.5;
constexpr std::uint64_t kLeast = 64u << 20;  // bytes: an engine and a shell

bool is_like(StepNeed::Like like, const PastRun& step, const PastRun& run) {
  if (like == StepNeed::Like::step) return run.key == step.key;
  if (run.component != step.component || run.kind != step.kind) return false;
  return like == StepNeed::Like::component || (run.version == step.version && run.method == step.method);
}

// What ended early for another reason says nothing.
bool says_something(const PastRun& run) {
  return run.end == PastRun::End::done || run.end == PastRun::End::out_of_memory;
}

double memory_of(const PastRun& run) {
  const auto peak = static_cast<double>(run.memory.peak);
  return run.end == PastRun::End::out_of_memory ? 2 * peak : peak;
}

StepNeed summary(StepNeed::Like like, const std::vector<const PastRun*>& runs) {
  StepNeed need;
  need.like = like;
  need.runs = runs.size();
  double most = 0;
  std::vector<double> seconds;
  for (const PastRun* run : runs) {
    most = std::max(most, memory_of(*run));
    if (run->end != PastRun::End::done) continue;
    seconds.push_back(run->seconds);
    if (run->seconds > 0) need.processors = std::max(need.processors, run->processor_seconds / run->seconds);
  }
  if (most > 0) {
    const double margin = like == StepNeed::Like::step ? kMarginOfStep : kMarginOfOthers;
    need.memory = std::max(kLeast, static_cast<std::uint64_t>(std::llround(most * margin)));
  }
  if (seconds.empty()) return need;
  const auto count = static_cast<double>(seconds.size());
  for (double time : seconds) need.seconds += time / count;
  double squares = 0;
  for (double time : seconds) squares += (time - need.seconds) * (time - need.seconds);
  need.deviation = seconds.size() > 1 ? std::sqrt(squares / (count - 1)) : need.seconds / 2;
  return need;
}

}  // namespace

StepNeed need_of(const PastRun& step, const std::vector<PastRun>& history) {
  for (auto like : {StepNeed::Like::step, StepNeed::Like::method, StepNeed::Like::component}) {
    std::vector<const PastRun*> runs;
    for (auto run = history.rbegin(); run != history.rend() && runs.size() < kRuns; ++run)
      if (says_something(*run) && is_like(like, step, *run)) runs.push_back(&*run);
    if (!runs.empty()) return summary(like, runs);
  }
  return {};
}

}  // namespace kiln
