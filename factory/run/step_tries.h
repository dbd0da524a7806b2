// The tries of one step: each waits for its share of this machine's memory, is kept in the history, and is
// followed by another where retry.h says so.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "factory/run/retry.h"
#include "factory/run/step.h"
#include "factory/state/memory_share.h"
#include "factory/state/step_need.h"

namespace kiln {

// What one try has, and where it says what it took.
struct StepTry {
  int number = 1;
  TryTerms terms = {};
  MemoryUse memory = {};
  double processor_seconds = 0;
};

class StepTries {
 public:
  // REQUIRES: both outlive this.
  StepTries(const Step& step, const StepSetup& setup);

  // Calls `once` until it returns. Throws its last Error when there is no other try.
  void run(const std::function<void(StepTry&)>& once);
  // How those before the last one ended, and what the next was given.
  const std::vector<std::string>& earlier() const { return earlier_; }

 private:
  TryTerms first_terms() const;
  std::uint64_t share_of(const TryTerms& terms) const;
  std::unique_ptr<MemoryShare> wait_for_share(const StepTry& attempt) const;
  void keep(const StepTry& attempt, PastRun::End end, double seconds) const;
  // What follows `attempt`, which ended with `error`: said, logged and waited for; false: nothing.
  bool prepare_next(StepTry& attempt, const Error& error);
  void tell(bool waits, const std::string& what) const;

  const Step& step_;
  const StepSetup& setup_;
  RetryRules rules_;
  std::uint64_t capacity_;  // of this machine, for steps; 0: no step waits for it
  StepNeed need_;
  std::vector<std::string> earlier_;
  std::mt19937 random_{std::random_device()()};  // when to try again need not be told again
};

}  // namespace kiln
