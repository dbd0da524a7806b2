// The memory of all that a process started, by /proc: for where no control group counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace kiln {

struct ProcessTree {
  pid_t first = -1;
  bool with_first = true;  // it counts, too
};

// Bytes in memory, now. What they share of files is counted once; what forked processes still have in common
// with each other is counted in each, so it is never too little. 0 when there is no such process.
std::uint64_t memory_of_tree(const ProcessTree& tree);

// The same with each page counted once, as the kernel divides it (Pss). Milliseconds for each GiB: for when
// the other one says too much.
std::uint64_t exact_memory_of_tree(const ProcessTree& tree);

}  // namespace kiln
