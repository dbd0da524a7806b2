// What the site file says of Slurm: "launcher": {"slurm": {…}}. Words are those of sbatch(1).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// What a job is given. Zero: nothing is said, and the partition's own default holds.
struct JobSize {
  int cpus = 0;
  std::uint64_t memory = 0;  // bytes
  std::chrono::seconds time{0};
};

// A kind of machines, and how jobs ask for them.
struct SlurmPlace {
  std::string partition;               // as Slurm knows it; "": the cluster's default
  std::vector<std::string> arguments;  // of sbatch, after those of all jobs
  std::string microarchitecture;       // archspec's name of its machines; "": not said
  JobSize usual;                       // of a step that nobody has run yet
  JobSize most;                        // whatever was recorded
};

struct SlurmSite {
  std::vector<std::string> arguments;            // of sbatch, for every job
  SlurmPlace standard;                           // "default": for what needs no special machine
  std::map<std::string, SlurmPlace> partitions;  // by microarchitecture ("zen4") or accelerator
                                                 // ("nvidia:sm_90", "nvidia")
  std::chrono::seconds poll{5};         // between two questions to the controller, of all jobs together
  std::chrono::seconds patience{3600};  // with a controller that does not answer; zero: no end
};

// At the object "slurm". What a partition does not say is as of "default". Throws Error(input).
SlurmSite read_slurm_site(const JsonNode& node);

// The place that somebody asks for by a key of `partitions` or by the partition's name in Slurm. One that the
// file does not name is taken for a partition of Slurm, with what "default" says beside it.
SlurmPlace place_named(const SlurmSite& site, const std::string& name);

// Options of sbatch: of all jobs, then the place's own.
std::vector<std::string> place_words(const SlurmSite& site, const SlurmPlace& place);

}  // namespace kiln
