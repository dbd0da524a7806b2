// Where the starts of a tuning run: on this machine, or as jobs of the site's Slurm.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "factory/cli/invocation.h"
#include "factory/run/trial_files.h"
#include "registry/answer/answer.h"

namespace kiln {

struct TuneOffers {
  bool here = false;                  // on this machine, whatever the site file says
  std::optional<std::size_t> jobs{};  // at the same time; nullopt: kiln's choice
};

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

}  // namespace kiln
