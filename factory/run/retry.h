// Resources of a failed step for another try.
//
// kiln retries only failures that may pass. After an unreachable package source it waits for a time that
// doubles and that differs between waiting steps. After a lack of memory it gives twice as much, while no
// other step runs here. It retries nothing else: a full disk, a missing program, a damaged store or a refusal
// of a registry lasts until a person acts; a failing script fails again; and pulls have separate tries.
//
//   failed try ── network, or memory ran out ──▶ another try
//             └── any other error, no tries left ──▶ failure record
//
// `kiln step --slurm` decides about jobs (cluster/job_end.h), and `kiln build` about runs of ninja (build.cc,
// run_ninja): docs/design-notes.md has all three.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "factory/base/error.h"
#include "factory/resolve/resolve.h"
#include "factory/run/step.h"
#include "factory/state/memory_share.h"
#include "factory/state/step_history.h"

namespace kiln {

struct TryTerms {
  double wait = 0;           // seconds before it
  std::uint64_t memory = 0;  // bytes that it may have; 0: no limit
  bool is_alone = false;     // no other step runs here
};

struct RetryRules {
  int retries = 0;                  // after the first try
  std::uint64_t usable_memory = 0;  // bytes of this machine
  bool has_scheduler = false;       // it gives each step its memory, and decides which steps run at a time
  bool has_fixed_memory = false;    // this process has no more to give: a job is run again, with more
  bool is_offline = false;          // packages come from a mirror, which has them or not
};

// After `tries` tries of which the last, on these terms, ended with `error`. `chance`: from 0 to 1, at
// random. nullopt: it has failed.
std::optional<TryTerms> next_try(const Step& step, const Error& error, const TryTerms& terms, int tries,
                                 const RetryRules& rules, double chance);

// "try 2 of 4 in 13 s", "try 2 of 4, alone, with at most 8.0 GiB of memory".
std::string text_of(const TryTerms& terms, int number, const RetryRules& rules);

// The tries of one step: each waits for its share of this machine's memory, is kept in the history, and is
// followed by another where next_try() says so.

// The resources of one try, and its report of their use.
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
  // Prepares the try after `attempt`, which ended with `error`: reports it, logs it and waits for it; false:
  // there is no further try.
  bool prepare_next(StepTry& attempt, const Error& error);
  void tell(bool waits, const std::string& what) const;

  const Step& step_;
  const StepSetup& setup_;
  RetryRules rules_;
  std::uint64_t capacity_;  // of this machine, for steps; 0: no step waits for it
  StepNeed need_;
  std::vector<std::string> earlier_;
  std::mt19937 random_{std::random_device()()};  // the time of the next try is not reported again
};

}  // namespace kiln
