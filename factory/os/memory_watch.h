// What memory a command has while it runs, whether that is too much, and for certain whether it ended because
// memory ran out.
#pragma once

#include <cstdint>
#include <optional>

#include "factory/base/effects.h"
#include "factory/os/cgroup.h"
#include "factory/os/process_memory.h"

namespace kiln {

class MemoryWatch {
 public:
  // `limit`: bytes, 0 for none. A control group holds it exactly; where there can be none, look() has to see
  // it. `may_group` false: as if there could be none.
  explicit MemoryWatch(std::uint64_t limit, bool may_group = true);

  // As MemoryCgroup::entrance; -1 without a group.
  int entrance() const { return group_ ? group_->entrance() : -1; }
  // Whether the command, whose processes are `tree`, is to be ended for its memory: it has more than its
  // limit, or the kernel took a process of it. Asked often; looks ten times a second, and less where a look
  // takes long. `now`: of a monotonic clock.
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
