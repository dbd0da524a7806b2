// The site's launcher: words before the command of a step, which start it on another machine, and the
// partition of the cluster that they ask for; or Slurm, as jobs of which steps are run.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// Settings of the site file for Slurm: "launcher": {"slurm": {…}}. The words are those of sbatch(1).

// Resources of a job. Zero: not stated, so the partition's default applies.
struct JobSize {
  int cpus = 0;
  std::uint64_t memory = 0;  // bytes
  std::chrono::seconds time{0};
};

// A kind of machines, and how jobs ask for them.
struct SlurmPartition {
  std::string name;                    // as Slurm knows it; "": the cluster's default
  std::vector<std::string> arguments;  // of sbatch, after those of all jobs
  std::string microarchitecture;       // archspec's name of its machines; "": not said
  JobSize usual;                       // of a step that was not run yet
  JobSize most;                        // even if more was recorded
};

struct SlurmSite {
  std::vector<std::string> arguments;                // of sbatch, for every job
  SlurmPartition standard;                           // "default": for steps without a special machine
  std::map<std::string, SlurmPartition> partitions;  // by microarchitecture ("zen4") or accelerator
                                                     // ("nvidia:sm_90", "nvidia")
  std::chrono::seconds poll{5};         // between two questions to the controller, of all jobs together
  std::chrono::seconds patience{3600};  // with a controller that does not answer; zero: no end
};

// The partition that is asked for by a key of `partitions` or by the partition's name in Slurm. One that the
// file does not name is taken for a partition of Slurm, with the settings of "default" for the rest.
SlurmPartition partition_named(const SlurmSite& site, const std::string& name);

// Options of sbatch: of all jobs, then the partition's own.
std::vector<std::string> partition_words(const SlurmSite& site, const SlurmPartition& partition);

// Stands for the partition's name in a word of a launcher: ["srun", "-n1", "--partition={partition}"].
inline constexpr const char* kPartition = "{partition}";

struct Launcher {
  std::vector<std::string> words;  // none: steps run on this machine
  std::string partition;           // the site's, put in place of kPartition; "" = no word has kPartition
  std::optional<SlurmSite> slurm;  // in place of words
  std::string asked;               // the partition of the command line; "": the site's, or by need with Slurm

  // Steps run on machines that need not be this one.
  bool is_used() const { return !words.empty() || slurm.has_value(); }
  // The words for the partition in use, which go before each `kiln step`; none with Slurm.
  std::vector<std::string> prefix() const;
  // Sets `asked`. Throws Error(usage) where no word of the launcher takes a partition.
  void ask_for(const std::string& name);
};

// The site file's `launcher` and `partition`. Throws Error(input): a partition that no word asks for, or a
// word that asks for one and none that is named.
Launcher read_launcher(const JsonNode& site);

}  // namespace kiln
