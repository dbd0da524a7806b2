#include "factory/cluster/job_state.h"

#include <array>
#include <utility>

namespace kiln {
namespace {

using Entry = std::pair<std::string_view, JobFate>;
constexpr std::array kJobEnds = {
    Entry{"COMPLETED", JobFate::over},          Entry{"FAILED", JobFate::over},
    Entry{"OUT_OF_MEMORY", JobFate::no_memory}, Entry{"TIMEOUT", JobFate::no_time},
    Entry{"NODE_FAIL", JobFate::lost_machine},  Entry{"BOOT_FAIL", JobFate::lost_machine},
    Entry{"PREEMPTED", JobFate::lost_machine},  Entry{"REVOKED", JobFate::lost_machine},
    Entry{"CANCELLED", JobFate::ended},         Entry{"DEADLINE", JobFate::ended}};
constexpr std::array kPendingStates = {"PENDING",     "REQUEUED",      "REQUEUE_HOLD",
                                       "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"};

}  // namespace

JobFate fate_of(std::string_view state) {
  for (const auto& [name, fate] : kJobEnds)
    if (state == name) return fate;
  return JobFate::alive;
}

bool is_pending(std::string_view state) {
  for (const char* name : kPendingStates)
    if (state == name) return true;
  return false;
}

// The job's state_desc (src/slurmctld/job_mgr.c), which squeue prints with blanks and scontrol with
// underscores.
bool is_held_for_launch(std::string_view state, std::string_view reason) {
  return is_pending(state) && reason.find("launch failed") != reason.npos;
}

}  // namespace kiln
