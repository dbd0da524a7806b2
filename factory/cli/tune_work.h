// A tuning that was asked for: what is started, in which image, and its course from beginning to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "factory/app/tuning.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/run/trial_files.h"
#include "registry/answer/question_host.h"

namespace kiln {

struct TuneOffers {
  bool here = false;                  // on this machine, whatever the site file says
  std::optional<std::size_t> jobs{};  // at the same time; nullopt: kiln's choice
};

// Where the starts of a tuning run: on this machine, or as jobs of the site's Slurm.
class TunePlace {
 public:
  // REQUIRES: site and invocation outlive this. Throws Error(usage) for `jobs` on this machine.
  TunePlace(const Site& site, const TuneOffers& offers, Invocation& invocation);
  TunePlace(const TunePlace&) = delete;
  TunePlace& operator=(const TunePlace&) = delete;

  bool in_jobs() const { return at_once_ > 0; }
  std::size_t at_once() const { return in_jobs() ? at_once_ : 1; }
  // Of the machine that is measured. With Slurm a job on a whole node says it. Throws Error(images_failed).
  HostDescription machine();
  // The starter of a course. REQUIRES: all outlive it; the state folder is locked.
  TuningStarter starter(const TuningSubject& subject, const TrialFiles& files, const std::string& plan,
                        const StepSetup& setup);

 private:
  SlurmPartition partition() const;
  std::vector<std::string> node_command(const char* subcommand) const;

  const Site& site_;
  Invocation& invocation_;
  std::size_t at_once_ = 0;  // jobs; 0: starts run on this machine
};

// A job of such a tuning: `starts` is the file that it was given. Throws as NodeTrial.
void run_node_trial(const std::string& starts, Invocation& invocation);

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
  TuneOffers offers;
};

// What is tuned: a workload component of the recipes, or a script.
struct TunedProgram {
  std::string name;    // of the workload or the script's file
  std::string metric;  // of several of the workload, "" of its only one
  bool is_script = false;
};

struct TunedImage {
  ImageRecord record;
  std::string workload;  // that the document names, "" = none
  HostDescription machine;
};

// The image that the document's question has on the machines that are measured. Throws as ask(), and
// Error(no_match).
TunedImage image_of(const std::string& dsl, TunePlace& place, Invocation& invocation);

// `of_document`: the workload that it names. Throws Error(usage) without any.
TunedProgram program_of(const TuneOptions& options, const std::string& of_document,
                        const RecipeBook& recipes);

// What one tuning has from its beginning to its end.
class Tuning {
 public:
  // REQUIRES: all outlive this; the state folder is locked. Throws Error(tool_missing) without Optuna,
  // Error(no_match) for an image that the matrix does not have, Error(usage) for an unknown workload.
  Tuning(const TuneOptions& options, const TunedProgram& program, const Catalogue& catalogue,
         const TunedImage& image, const StepSetup& setup, Invocation& invocation);

  const TuningHead& what() const { return head_; }
  bool more_is_better(const TuningJournal& journal) const;
  // Throws as run_course(); then the same call goes on.
  TuningJournal run(TunePlace& place);
  // REQUIRES: a workload was tuned.
  TunedRecord record(const TuningJournal& journal) const;

 private:
  TuningHead head() const;
  BenchRequest request() const;
  TuningTerms terms(const TunePlace& place) const;
  TuningJournal begin();

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
