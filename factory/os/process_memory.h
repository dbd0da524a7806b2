// The memory of all that a process started, by /proc: for where no control group counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "factory/base/effects.h"
#include "factory/os/cgroup.h"

namespace kiln {

struct ProcessTree {
  pid_t first = -1;
  bool with_first = true;  // it counts, too
};

// Bytes in memory, now. Shared pages of files are counted once. Pages that forked processes still share with
// each other are counted in each, so the sum is never too low. 0 when there is no such process.
std::uint64_t memory_of_tree(const ProcessTree& tree);

// The same with each page counted once, as the kernel divides it (Pss). Milliseconds for each GiB: for when
// the other one says too much.
std::uint64_t exact_memory_of_tree(const ProcessTree& tree);

// Watches the memory of a running command, and whether it exceeds the limit. Knows for certain whether the
// command ended because memory ran out.
class MemoryWatch {
 public:
  // `limit`: bytes, 0 for none. A control group enforces the limit exactly; without one, look() must detect
  // an excess. `may_group` false: as if there could be none.
  explicit MemoryWatch(std::uint64_t limit, bool may_group = true);

  // As MemoryCgroup::entrance; -1 without a group.
  int entrance() const { return group_ ? group_->entrance() : -1; }
  // Whether to end the command with the processes `tree` for its memory: it exceeds its limit, or the kernel
  // killed a process of it. Asked often; looks ten times a second, and less where a look takes long. `now`:
  // of a monotonic clock.
  bool look(const ProcessTree& tree, double now);
  // After its end: whether the kernel took a process of it. `was_killed`: it ended by SIGKILL, or a shell
  // says that of a program. Without a group that and a kill on this machine meanwhile is the proof.
  bool ran_out(bool was_killed) const;
  MemoryUse use() const;

 private:
  bool measure(const ProcessTree& tree);

  std::uint64_t limit_;
  std::optional<MemoryCgroup> group_;
  std::uint64_t machine_kills_;  // before it began
  MemoryUse use_;
  double next_look_ = 0;
};

}  // namespace kiln
