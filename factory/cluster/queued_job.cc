#include "factory/cluster/queued_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "factory/base/digest.h"

namespace kiln {
namespace {

// What stands after `name` and before the next blank.
std::string word_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == text.npos) return "";
  text.remove_prefix(at + name.size());
  return std::string(text.substr(0, text.find(' ')));
}

// At the beginning of `text`; 0 where there is none.
double number_of(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && number >= 0 && number < 1e9 ? number : 0;
}

// "1000M", "1.50G", "0"; squeue's %m is of a processor where memory is asked for by processor.
std::uint64_t bytes_of(std::string_view text) {
  const double number = number_of(text);
  const std::string_view unit = text.substr(std::min(text.size(), text.find_first_not_of("0123456789.")));
  const int power = unit.starts_with('K') ? 10 : unit.starts_with('G') ? 30 : unit.starts_with('T') ? 40 : 20;
  return static_cast<std::uint64_t>(std::ldexp(number, power));
}

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

std::string comment_of(const JobMark& mark) {
  return fmt::format("kiln run={} state={} key={}", mark.run, mark.state, mark.key);
}

std::optional<JobMark> mark_of(std::string_view comment) {
  if (!comment.starts_with("kiln run=")) return std::nullopt;
  JobMark mark{word_after(comment, " run="), word_after(comment, " state="), word_after(comment, " key=")};
  if (mark.state.empty() || mark.key.empty()) return std::nullopt;
  return mark;
}

std::string folder_mark(const std::string& path) { return Digest::of(path).hex().substr(0, 12); }

std::vector<QueuedJob> parse_queue(std::string_view text) {
  std::vector<QueuedJob> jobs;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::array<std::string_view, 7> fields;
    bool whole = true;
    for (std::string_view& field : fields) {
      const std::size_t end = line.find('|');
      whole = whole && end != line.npos;
      field = line.substr(0, end);
      line.remove_prefix(whole ? end + 1 : line.size());
    }
    const auto mark = whole ? mark_of(line) : std::nullopt;
    if (!mark) continue;
    jobs.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
                    std::string(fields[3]), std::string(fields[4]), static_cast<int>(number_of(fields[5])),
                    bytes_of(fields[6]), *mark});
  }
  return jobs;
}

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

bool asks_too_much_time(std::string_view state, std::string_view reason) {
  constexpr std::array<std::string_view, 3> kLimits = {"PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit",
                                                       "AssocMaxWallDurationPerJobLimit"};
  return is_pending(state) && std::ranges::find(kLimits, reason) != kLimits.end();
}

}  // namespace kiln
