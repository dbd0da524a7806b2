// The partitions and accounts that a site file names, and those that Slurm has. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "factory/site/slurm_site.h"

namespace kiln {

struct SlurmNames {
  std::set<std::string> partitions, accounts;
};

// All that a job of this site may ask for, also in the words for sbatch: "--partition=a,b", "-A", "project".
SlurmNames names_of(const SlurmSite& site);

// Of `scontrol --oneliner show partition`.
std::set<std::string> partitions_in(std::string_view text);

// Of `sacctmgr --noheader --parsable2 show associations format=account`: one a line.
std::set<std::string> accounts_in(std::string_view text);

}  // namespace kiln
