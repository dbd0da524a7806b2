// kiln doctor, for a site that runs steps on other machines: Slurm, and locks that all of them see.
#pragma once

#include <string>

#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/os/file_lock.h"
#include "factory/state/state.h"

namespace kiln {

// Rows for the programs that hand over jobs, and for the partitions and accounts that the site file names.
// False when one of them is missing. REQUIRES: the site's launcher is Slurm.
bool add_slurm(const Site& site, Invocation& invocation, Table& table);

// Held here while a node is asked. Throws Error(store).
class LockForNodes {
 public:
  explicit LockForNodes(const StatePaths& state);
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  PassingLock lock_;
};

// On the node: the row for the lock that another machine holds at `file`. False when the file is not there,
// or nobody seems to hold it.
bool add_locks(const std::string& file, Table& table);

}  // namespace kiln
