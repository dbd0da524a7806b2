// A tuning that was asked for: what is started, in which image, and its course from beginning to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "factory/app/ready_workload.h"
#include "factory/app/tuning.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/cli/measuring_place.h"

namespace kiln {

struct TuneOptions {
  std::string dsl;
  std::string matrix;
  std::string workload;  // "" = the document's
  std::string script;    // in place of a workload
  std::string space;
  std::optional<SearchSpace> read_space{};  // of that file
  std::string budget = "30m";
  std::string format = "table";
  std::string picture;  // file that gets it, "" = none
  std::string in_job;   // file of a job's starts: this is that job
  bool list = false;
  bool again = false;  // begin anew
  std::int64_t seed = 1;
  WorkloadWishes wishes;
  TuningTerms terms;
  PlaceOffers offers;
};

struct TunedImage {
  ImageRecord record;
  std::string workload;  // that the document names, "" = none
  HostDescription machine;
};

// The image that the document's question has on the machines that are measured. Throws as ask(), and
// Error(no_match).
TunedImage image_of(const std::string& dsl, MeasuringPlace& place, Invocation& invocation);

// The state of one tuning from its beginning to its end.
class Tuning {
 public:
  // REQUIRES: all outlive this; the state folder is locked. Throws Error(tool_missing) without Optuna,
  // Error(no_match) for an image that the matrix does not have, Error(usage) for an unknown workload.
  Tuning(const TuneOptions& options, const TunedProgram& program, const Catalogue& catalogue,
         const TunedImage& image, const StepSetup& setup, Invocation& invocation);

  const TuningHead& what() const { return head_; }
  bool more_is_better(const TuningJournal& journal) const;
  // Throws as run_course(); then the same call goes on.
  TuningJournal run(MeasuringPlace& place);
  // REQUIRES: a workload was tuned.
  TunedRecord record(const TuningJournal& journal) const;

 private:
  TuningHead head() const;
  BenchRequest request() const;

  const TuneOptions& options_;
  const TunedProgram& program_;
  const Catalogue& catalogue_;
  const TunedImage& tuned_;
  std::uint32_t number_;  // of the image in the plan
  ImageSpec image_;
  ReadyWorkload workload_;
  const StepSetup& setup_;
  TuningSearch search_;
  Invocation& invocation_;
  TuningHead head_;
  TuningFile file_;
};

}  // namespace kiln
