#include "factory/cluster/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

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

constexpr std::chrono::seconds kLongestAnswer{120};
constexpr double kLongestBetweenTries = 60;   // seconds
constexpr double kPatienceAtEnd = 120;        // seconds
constexpr double kBetweenCancellations = 10;  // seconds

// Nobody sees the first lines of what sbatch says over and over.
std::string last_line(const std::string& said) {
  const std::string line = last_lines(said, 1);
  return std::string(trimmed(line));
}

std::optional<std::string> number_in_line(std::string_view line) {
  const std::string_view number = line.substr(0, line.find(';'));
  if (number.empty() || !std::ranges::all_of(number, is_digit)) return std::nullopt;
  const std::string_view cluster = line.substr(number.size());
  if (cluster == ";" || cluster.find_first_of(kWhiteSpace) != cluster.npos) return std::nullopt;
  return std::string(number);
}

// Only sbatch says something of the job; of another program it is the machine's trouble.
[[noreturn]] void throw_refusal(const std::string& program, const std::string& said) {
  const std::string what = fmt::format("{}: {}", program, said);
  const std::string hint = "the site file sets the options of jobs in \"slurm\"";
  if (program == "sbatch") throw SlurmRefusal(what, hint);
  throw Error(ExitCode::images_failed, what, hint);
}

}  // namespace

std::map<std::string, std::string> slurm_environment(const std::map<std::string, std::string>& ours) {
  constexpr std::array kKept = {"SLURM_CONF", "SLURM_CLUSTERS"};
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : ours) {
    const bool of_slurm = name.starts_with("SLURM") || name.starts_with("SQUEUE_");
    if (!of_slurm || std::ranges::find(kKept, name) != kKept.end()) environment[name] = value;
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

std::optional<std::string> job_number(std::string_view answer, bool any_line) {
  if (!any_line) return number_in_line(trimmed(answer));
  std::optional<std::string> found;
  for (const std::string_view line : split(answer, '\n')) {
    const auto number = number_in_line(trimmed(line));
    if (number && found) return std::nullopt;
    if (number) found = number;
  }
  return found;
}

// As slurm_strerror() has them (src/common/slurm_errno.c), and as the limits are named (job_reason_string).
bool may_pass(const std::string& said) {
  constexpr std::array kPassingWords = {
      "Unable to contact slurm controller", "Socket timed out", "standby mode", "Zero Bytes were transmitted",
      "temporarily unable to accept job", "Resource temporarily unavailable", "Connection refused",
      "Connection reset", "Connection timed out", "not connected", "Unexpected message received",
      "authentication error", "authentication credential", "Authentication credential", "munge", "Munge",
      "Communication connection failure", "Message receive failure", "Message send failure",
      // AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit, AssocGrpSubmitJobsLimit, …
      "SubmitJob"};
  return contains_any(said, kPassingWords);
}

void SlurmController::check_patience(const QueueView& view) const {
  if (site_.patience.count() == 0 || view.silent_for < site_.patience.count()) return;
  throw Error(ExitCode::network,
              fmt::format("the Slurm controller has not answered for {} s: {}", view.silent_for, view.why),
              "\"patience\" of the site file's \"slurm\" limits the wait");
}

QueueView SlurmController::ask(bool after_this_second) {
  const std::int64_t now = programs_.clock.unix_seconds() + (after_this_second ? 1 : 0);
  for (;;) {
    QueueView view = queue_.look(now);
    if (view.silent_for == 0 && view.asked >= now) return view;
    if (view.silent_for > 0) {
      check_patience(view);
      tell_(fmt::format("the Slurm controller does not answer: {}", last_line(view.why)));
    }
    wait_(std::chrono::milliseconds(250));
  }
}

CommandResult SlurmController::run(const std::vector<std::string>& argv) const {
  return programs_.runner.ask(argv, programs_.environment, kLongestAnswer);
}

std::string SlurmController::run_until(const std::vector<std::string>& argv,
                                       const std::function<std::optional<std::string>()>& found) {
  const double start = programs_.clock.monotonic_seconds();
  double pause = static_cast<double>(std::max<std::int64_t>(1, site_.poll.count()));
  for (;;) {
    const CommandResult result = run(argv);
    if (result.ok()) return std::string(trimmed(result.output));
    const std::string said = last_line(result.tail);
    if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    if (result.end == CommandEnd::exited && !may_pass(result.tail)) throw_refusal(argv.front(), said);
    const double seconds = programs_.clock.monotonic_seconds() - start;
    if (site_.patience.count() > 0 && seconds >= static_cast<double>(site_.patience.count()))
      throw Error(ExitCode::network, fmt::format("{}: for {:.0f} s: {}", argv.front(), seconds, said),
                  "\"patience\" of the site file's \"slurm\" limits the wait");
    tell_(said.empty() ? argv.front() + " did not answer" : said);
    wait_(std::chrono::milliseconds(static_cast<std::int64_t>(pause * 1000)));
    pause = std::min(kLongestBetweenTries, 2 * pause);
    if (auto answer = found()) return *answer;
  }
}

// "ClusterName             = site" of `scontrol show config`.
std::string SlurmController::cluster() {
  const std::string text =
      run_until({"scontrol", "show", "config"}, [] { return std::optional<std::string>(); });
  std::size_t at = text.find("ClusterName ");
  if (at == text.npos || (at = text.find('=', at)) == text.npos) return "-";
  const std::string name(trimmed(std::string_view(text).substr(at + 1, text.find('\n', at) - at - 1)));
  return name.empty() ? "-" : name;
}

std::optional<std::string> SlurmController::find(const JobMark& mark, const std::set<std::string>& known) {
  const QueueView view = ask(true);
  for (const QueuedJob& job : view.jobs)
    if (job.mark == mark && !known.contains(job.id)) return job.id;
  return std::nullopt;
}

std::string SlurmController::submit(const std::vector<std::string>& words, const JobMark& mark,
                                    const std::set<std::string>& known) {
  std::vector<std::string> argv = {"sbatch", "--parsable"};
  argv.insert(argv.end(), words.begin(), words.end());
  const std::string answer = run_until(argv, [&] { return find(mark, known); });
  if (auto number = job_number(answer, false)) return *number;
  // Some sites' sbatch greets, or counts what is left of an account.
  if (auto number = find(mark, known)) return *number;
  if (auto number = job_number(answer, true)) return *number;  // it is over, and forgotten
  throw Error(ExitCode::images_failed,
              fmt::format("sbatch took the job, and no job has kiln's mark: {}", last_line(answer)),
              "kiln knows its jobs by their comment: `sbatch --comment=x`, then `squeue --format=%k`");
}

bool SlurmController::cancel(const std::vector<std::string>& ids) {
  if (ids.empty()) return true;
  std::vector<std::string> argv = {"scancel", "--quiet"};
  argv.insert(argv.end(), ids.begin(), ids.end());
  const double start = programs_.clock.monotonic_seconds();
  double told = -kBetweenCancellations;
  const std::int64_t first = programs_.clock.unix_seconds();
  for (;;) {
    const double now = programs_.clock.monotonic_seconds() - start;
    if (now - told >= kBetweenCancellations) {
      Command command;
      command.argv = argv;
      command.environment = programs_.environment;
      command.despite_interrupt = true;
      command.limits.wall = kLongestAnswer;
      programs_.runner.run(command);
      told = now;
    }
    const QueueView view = queue_.look(programs_.clock.unix_seconds());
    const bool any = std::ranges::any_of(view.jobs, [&](const QueuedJob& job) {
      return std::ranges::find(ids, job.id) != ids.end() && fate_of(job.state) == JobFate::alive;
    });
    if (view.silent_for == 0 && view.asked > first && !any) return true;
    if (interrupted_again() || (view.silent_for > 0 && now >= kPatienceAtEnd)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace kiln
