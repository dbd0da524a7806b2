// How long a build still takes, and how far that may be off: its steps are run in thought, as ninja runs
// them, each for as long as steps like it took before.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace kiln
