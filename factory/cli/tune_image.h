// The course of a tuning: trials, then the comparison, each step as the journal says (bench/tuning.h).
#pragma once

#include <string>

#include "factory/cli/invocation.h"
#include "factory/cli/ready_workload.h"
#include "factory/record/tuned_record.h"
#include "factory/run/tuning_run.h"

namespace kiln {

// What is tuned, how long, and by whom.
struct TuneWork {
  std::string workload;  // component of the recipes
  std::string metric;    // of several, "" of its only one
  WorkloadWishes wishes;
  TuningTerms terms;
  std::int64_t seed = 1;
  SearchSpace space;
  bool again = false;  // begin anew
};

struct TuneResult {
  TunedRecord record;
  TuningJournal journal;
};

class ImageTuning {
 public:
  // REQUIRES: all outlive this; the state folder is locked. Throws Error(tool_missing) without Optuna.
  ImageTuning(const Catalogue& catalogue, const StepSetup& setup, TuningSearch search,
              Invocation& invocation);

  // Runs what is left of it, keeps the result in the state folder and returns it. `record`: of the image in
  // the index, `image`: the same in the plan. Throws as next_step(), run_trial() and TuningFile do; then the
  // same call goes on.
  TuneResult run(const TuneWork& work, const ImageSpec& image, const ImageRecord& record);

 private:
  struct Course;
  void search(Course& course, const NextTuningStep& next);
  void compare(Course& course, const NextTuningStep& next);
  TuneResult result_of(const Course& course) const;

  const Catalogue& catalogue_;
  const StepSetup& setup_;
  TuningSearch search_;
  Invocation& invocation_;
};

}  // namespace kiln
