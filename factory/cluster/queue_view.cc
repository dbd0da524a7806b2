#include "factory/cluster/queue_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "factory/base/text.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kLongestQuestion{60};
constexpr std::int64_t kLongestPause = 60;  // seconds

// The first line of the file: "1795660000 0", when it was asked and since when nobody answered; then what
// squeue printed.
std::string text_of(std::int64_t asked, std::int64_t silent_since, std::string_view rest) {
  return fmt::format("{} {}\n{}", asked, silent_since, rest);
}

}  // namespace

std::map<std::string, std::string> slurm_environment(const std::map<std::string, std::string>& ours) {
  constexpr std::array kKept = {"SLURM_CONF", "SLURM_CLUSTERS"};
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : ours) {
    const bool of_slurm = name.starts_with("SLURM") || name.starts_with("SQUEUE_");
    if (!of_slurm || std::find(kKept.begin(), kKept.end(), name) != kKept.end()) environment[name] = value;
  }
  return environment;
}

QueueWatch::QueueWatch(const StatePaths& state, FileSystem& files, const SlurmPrograms& programs,
                       const SlurmSite& site)
    : state_(state), files_(files), programs_(programs), site_(site), start_(programs.clock.unix_seconds()) {}

QueueView QueueWatch::last() const {
  const std::string text = files_.read(state_.jobs() / "queue").value_or("");
  QueueView view;
  char* end = nullptr;
  view.asked = std::strtoll(text.c_str(), &end, 10);
  const std::int64_t silent_since = std::strtoll(end, &end, 10);
  const std::size_t line = text.find('\n');
  const std::string_view rest =
      line == text.npos ? std::string_view{} : std::string_view(text).substr(line + 1);
  if (silent_since > 0) {
    view.silent_for = std::max<std::int64_t>(1, view.asked - std::max(silent_since, start_));
    view.why = std::string(rest);
  } else {
    view.jobs = parse_queue(rest);
  }
  return view;
}

bool QueueWatch::is_due(const QueueView& view, std::int64_t not_before) const {
  const std::int64_t age = programs_.clock.unix_seconds() - view.asked;
  if (age < 0) return true;  // of a clock that was set back
  const std::int64_t pause = std::max(site_.poll.count(), std::min(kLongestPause, view.silent_for / 2));
  if (view.silent_for > 0 && view.asked >= start_) return age >= pause;
  return age >= pause || (view.asked < not_before && age >= 1);
}

QueueView QueueWatch::ask(const QueueView& before) const {
  Command command;
  command.argv = {"squeue", "--me", "--states=all", "--noheader", fmt::format("--format={}", kQueueFormat)};
  command.environment = programs_.environment;
  command.capture_stdout = true;
  command.despite_interrupt = true;
  command.limits.wall = kLongestQuestion;
  const std::int64_t now = programs_.clock.unix_seconds();
  const CommandResult result = programs_.runner.run(command);
  if (result.ok()) {
    files_.write_output(state_.jobs() / "queue", text_of(now, 0, result.output));
  } else {
    const std::string said(trimmed(result.tail));
    files_.write_output(state_.jobs() / "queue",
                        text_of(now, before.silent_for > 0 ? before.asked - before.silent_for : now,
                                said.empty() ? "squeue did not answer" : without_controls(said)));
  }
  return last();
}

QueueView QueueWatch::look(std::int64_t not_before) {
  QueueView view = last();
  if (!is_due(view, not_before)) return view;
  auto alone = FileLock::try_acquire(state_.jobs() / "queue.lock");
  if (!alone) return view;
  view = last();  // of whoever had it before
  return is_due(view, not_before) ? ask(view) : view;
}

}  // namespace kiln
