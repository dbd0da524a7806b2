// How long a build still takes, and how far that may be off: its steps are run in thought, as ninja runs
// them, each for as long as steps like it took before.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/state/state.h"
#include "factory/state/state_names.h"
#include "factory/state/step_history.h"

namespace kiln {

struct ForecastStep {
  std::string key;
  std::vector<std::size_t> after = {};  // the steps before it, by their place in the list; all are smaller
  double seconds = 0;                   // expected; 0: nothing like it was ever run
  double deviation = 0;                 // of one run from that, in seconds
};

struct TimeLeft {
  double seconds = 0;
  double error = 0;  // the deviation of the steps that decide it, one after the other; seconds
};

// "about 12 min, give or take 3 min"; "" for nullopt.
std::string text_of(const std::optional<TimeLeft>& left);

class Forecast {
 public:
  Forecast() = default;
  Forecast(std::vector<ForecastStep> steps, int jobs);
  std::size_t steps() const { return steps_.size(); }
  // The most steps that ever run side by side, at least 1: no more than `jobs`, and fewer where they wait for
  // each other. One that was never run takes a second in thought.
  int most_at_once() const;

  void start(const std::string& key, double now);  // `now`: of a monotonic clock; again: it begins only now
  void end(const std::string& key);
  // nullopt where half of what is left was never run before, or nothing is left.
  std::optional<TimeLeft> left(double now) const;

 private:
  enum class State { waits, runs, ended };
  struct Known {
    ForecastStep step;
    State state = State::waits;
    double start = 0;
  };
  bool knows_enough() const;
  void fill_in_unknown();

  std::vector<Known> steps_;
  std::map<std::string, std::size_t> places_;
  int jobs_ = 1;
};

// The forecast of a build, from its plan and from the history of steps.

// The depth that a build must reach. A step that is done needs nothing of those below it but their layers, so
// where one was fetched from another builder, or its records below were collected, they need not be run.

// Steps that are done, lack a record below them, and have all layers of their chain.
using ClosedSteps = std::set<StepTable::Number>;
ClosedSteps closed_steps(const BuildPlan& plan, const ImageNumbers& images, StateNames& names,
                         const StatePaths& state, const FileSystem& files);

// The steps and tests of these images, without those that only closed ones stand on; in their order.
std::vector<StepTable::Number> open_steps(const BuildPlan& plan, const ImageNumbers& images,
                                          const ClosedSteps& closed);

// Of the steps and tests of these images without a record yet, and of the images themselves; not of those
// that only `closed` ones stand on.
Forecast forecast_of(const BuildPlan& plan, const ImageNumbers& images, StateNames& before,
                     const std::vector<PastRun>& history, int jobs, const ClosedSteps& closed = {});

// The expected time of a build of these images, with `jobs` steps at a time. nullopt if all of them are
// built, or if fewer than half of their steps have ever run.
struct ExpectedBuild {
  std::size_t steps = 0;  // tests and packaging included
  int jobs = 1;
  TimeLeft time;
};
std::optional<ExpectedBuild> expected_build(const BuildPlan& plan, const ImageNumbers& images,
                                            StateNames& names, const StatePaths& state,
                                            const FileSystem& files, int jobs);
// "expected: about 12 min, give or take 3 min, for 14 steps, 2 at a time".
std::string text_of(const ExpectedBuild& expected);

// The packaging of an image, as the history knows it.
PastRun packaging_of(const std::string& key, const std::string& repository);

}  // namespace kiln
