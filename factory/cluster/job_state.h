// The states of a job, as squeue(1) names them under "JOB STATE CODES" (Slurm 22.05), and what each means for
// the step that the job was to run. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

enum class JobFate {
  alive,         // pending, running, held, to be run again, or still being cleared away
  over,          // it ran to its end, well or not
  no_memory,     // OUT_OF_MEMORY
  no_time,       // TIMEOUT
  lost_machine,  // NODE_FAIL, BOOT_FAIL, PREEMPTED, REVOKED: another machine may do it
  ended,         // CANCELLED, DEADLINE: somebody, or a rule of the site, wants no such job
};

// `state`: the extended form, "NODE_FAIL". One that is not known is taken for alive: what is taken for dead
// would be run a second time.
JobFate fate_of(std::string_view state);

// Alive, and for nobody: the machine that was to start it could not (its prolog failed), and Slurm holds it
// until an administrator lets it go. `reason`: as squeue has it.
bool is_held_for_launch(std::string_view state, std::string_view reason);

// Alive, and no machine has it: PENDING, REQUEUED, held in one way or another.
bool is_pending(std::string_view state);

}  // namespace kiln
