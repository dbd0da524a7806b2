// kiln doctor, for a site that runs steps as jobs of Slurm.
#pragma once

#include "factory/cli/invocation.h"
#include "factory/cli/table.h"

namespace kiln {

// Rows for the programs that hand over jobs, and for the partitions and accounts that the site file names.
// False when one of them is missing. REQUIRES: the site's launcher is Slurm.
bool add_slurm(const Site& site, Invocation& invocation, Table& table);

}  // namespace kiln
