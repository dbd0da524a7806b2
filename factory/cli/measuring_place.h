// Where measurements run: on this machine, or as jobs of the site's Slurm that have a node to themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/cluster/node_jobs.h"
#include "registry/answer/answer.h"

namespace kiln {

struct PlaceOffers {
  bool here = false;                  // on this machine, whatever the site file says
  std::optional<std::size_t> jobs{};  // at the same time; nullopt: kiln's choice
};

// Adds --here, --jobs, --partition, and --in-job, whose value `in_job` gets in such a job. `starts` and
// `jobs` say in the help what runs, and how many at once.
void add_place_options(CLI::App& command, PlaceOffers& offers, std::string& in_job, Invocation& invocation,
                       const char* starts, const char* jobs);

class MeasuringPlace {
 public:
  // `command`: of kiln: "tune", "bench". REQUIRES: site and invocation outlive this. Throws Error(usage) for
  // `jobs` on this machine.
  MeasuringPlace(const Site& site, const PlaceOffers& offers, std::string command, Invocation& invocation);
  MeasuringPlace(const MeasuringPlace&) = delete;
  MeasuringPlace& operator=(const MeasuringPlace&) = delete;

  bool in_jobs() const { return at_once_ > 0; }
  std::size_t at_once() const { return in_jobs() ? at_once_ : 1; }
  // Of the machine that is measured, without its processor's features. With Slurm a job on a whole node says
  // it, once. Throws Error(images_failed).
  const HostDescription& machine();
  // REQUIRES: in_jobs(); `setup` outlives the call of `run`.
  JobSetup job_setup(const StepSetup& setup) const;
  NodeJobs jobs(const JobSetup& setup) const;

 private:
  SlurmPartition partition() const;
  std::vector<std::string> node_command(const std::string& subcommand) const;
  HostDescription said_by_a_node() const;

  const Site& site_;
  std::string command_;
  Invocation& invocation_;
  std::size_t at_once_ = 0;  // jobs; 0: this machine
  std::optional<HostDescription> machine_;
};

// Such a job: `Task` is NodeTrial or NodeRound, `task` the file that it was given. Throws as they do.
template <typename Task>
void run_node_task(const std::string& task, Invocation& invocation);

}  // namespace kiln
