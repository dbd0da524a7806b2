// Whether the locks of the state folder are those of all machines: `kiln doctor --node` holds one here, and
// the node looks whether it sees it. On some file systems (NFS mounted with local_lock or nolock, Lustre with
// localflock, most of FUSE) flock(2) succeeds on each machine by itself.
#pragma once

#include <string>

#include "factory/cli/table.h"
#include "factory/os/file_lock.h"
#include "factory/state/state.h"

namespace kiln {

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
