// The site's launcher: words before the command of a step, which start it on another machine, and the
// partition of the cluster that they ask for; or Slurm, as jobs of which steps are run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/site/slurm_site.h"

namespace kiln {

// Stands for the partition's name in a word of a launcher: ["srun", "-n1", "--partition={partition}"].
inline constexpr const char* kPartition = "{partition}";

struct LauncherConfig {
  std::vector<std::string> words;  // none: steps run on this machine
  std::string partition;           // where nobody asks for another; "" = no word has kPartition
  std::optional<SlurmSite> slurm;  // in place of words
  std::string asked;               // Slurm's partition, or a name of it, that somebody asks for; "": by need
};

// The site file's `launcher` and `partition`. Throws Error(input): a partition that no word asks for, or a
// word that asks for one and none that is named.
LauncherConfig read_launcher(const JsonNode& site);

// The words for a partition, "" = the site's own; none with Slurm. Throws Error(usage) where the launcher
// knows of none.
std::vector<std::string> launcher_words(const LauncherConfig& launcher, const std::string& partition);

}  // namespace kiln
