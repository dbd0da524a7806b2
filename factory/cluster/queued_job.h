// kiln's jobs as squeue lists them, and the comment by which kiln recognises them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// The contents of a job's comment.
struct JobMark {
  std::string run;    // of kiln, that submitted it
  std::string state;  // folder_mark() of its state folder
  std::string key;    // of the step, or of the image that is packaged
  bool operator==(const JobMark&) const = default;
};

// "kiln run=… state=… key=…".
std::string comment_of(const JobMark& mark);
std::optional<JobMark> mark_of(std::string_view comment);  // nullopt: not a job of kiln's

// A state folder in few letters: from its path, which all machines of the cluster know it by.
std::string folder_mark(const std::string& path);

struct QueuedJob {
  std::string id;
  std::string state;   // "RUNNING"
  std::string reason;  // why it waits, or how it ended: "Resources"
  std::string partition;
  std::string nodes;
  int cpus = 0;
  std::uint64_t memory =
      0;  // bytes: of the node, or of each processor where it was asked for so; 0: not said
  JobMark mark;
};

// For `squeue --noheader --format`. The comment is last, because comments of other jobs may contain anything.
inline constexpr const char* kQueueFormat = "%i|%T|%r|%P|%N|%C|%m|%k";

// Those of kiln's, of whatever state folder.
std::vector<QueuedJob> parse_queue(std::string_view text);

// The states of a job, as squeue(1) names them under "JOB STATE CODES" (Slurm 22.05), and what each means for
// the step that the job was to run. Pure.
enum class JobFate {
  alive,         // pending, running, held, to be run again, or still being cleared away
  over,          // it ran to its end, well or not
  no_memory,     // OUT_OF_MEMORY
  no_time,       // TIMEOUT
  lost_machine,  // NODE_FAIL, BOOT_FAIL, PREEMPTED, REVOKED: another machine may do it
  ended,         // CANCELLED, DEADLINE: ended by a person or by a rule of the site
};

// `state`: the extended form, "NODE_FAIL". One that is not known is taken for alive: what is taken for dead
// would be run a second time.
JobFate fate_of(std::string_view state);

// Alive, and useless: the machine that was to start it could not (its prolog failed), and Slurm holds it
// until an administrator lets it go. `reason`: as squeue has it.
bool is_held_for_launch(std::string_view state, std::string_view reason);

// Alive, and useless: it asks for more time than a job may have there, so Slurm keeps it until an
// administrator changes the limit. `reason`: as squeue(1) lists them under "JOB REASON CODES".
bool asks_too_much_time(std::string_view state, std::string_view reason);

// Alive, and no machine has it: PENDING, REQUEUED, held in one way or another.
bool is_pending(std::string_view state);

}  // namespace kiln
